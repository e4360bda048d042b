--- Runs the specs. Each is a file that gets `t` and calls t.test(name, function).
local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
package.path = here .. "/?.lua;" .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(here))
local Agent, Child, Terminal = require("agent"), require("child"), require("terminal")
local patience = require("patience")

local SLOW_MS = 2000

local passed, failed = 0, 0
local slow = {}
local t = { start = Child.start, wait = patience.wait }
t.here = here
t.repository = vim.fs.dirname(vim.fs.dirname(here))

local function say(...)
  io.stdout:write(..., "\n")
  io.stdout:flush()
end

function t.eq(actual, expected, what)
  if not vim.deep_equal(actual, expected) then
    error(
      ("%s\n  expected %s\n  found    %s"):format(
        what or "not equal",
        vim.inspect(expected),
        vim.inspect(actual)
      ),
      2
    )
  end
end

function t.ok(value, what)
  if not value then
    error(what or "not true", 2)
  end
end

--- Compares a screen with the one in screens/.
function t.screen(child, name)
  local path = vim.fs.joinpath(here, "screens", name .. ".txt")
  local found = child:screen()
  if vim.env.HASHLINE_UPDATE_SCREENS == "1" then
    vim.fn.writefile(vim.split(found, "\n"), path)
    return
  end
  local file = io.open(path)
  local expected = file and vim.trim(file:read("*a")) or "(there is no such file)"
  if vim.trim(found) ~= expected then
    error(
      ("the screen is not screens/%s.txt\n--- expected\n%s\n--- found\n%s"):format(name, expected, found),
      2
    )
  end
end

--- Something measured, to be read and not to be tested.
function t.note(text)
  say(text)
end

local spec_name
function t.test(name, run)
  if not name:find(vim.env.HASHLINE_ONLY or "", 1, true) then
    return
  end
  local started = vim.uv.hrtime()
  local ok, failure = xpcall(run, function(message)
    return debug.traceback(tostring(message), 2)
  end)
  Child.stop_all()
  Terminal.stop_all()
  Agent.stop_all()
  local ms = (vim.uv.hrtime() - started) / 1e6
  local took = ("%d ms"):format(ms)
  if ms > SLOW_MS then
    slow[#slow + 1] = ("slow %s: %s (%s)"):format(spec_name, name, took)
  end
  if ok then
    passed = passed + 1
    say(("ok   %s: %s (%s)"):format(spec_name, name, took))
  else
    failed = failed + 1
    say(("FAILED %s: %s (%s)\n%s"):format(spec_name, name, took, failure))
  end
end

local wanted = {}
for _, argument in ipairs(arg) do
  wanted[argument] = true
end
for _, path in ipairs(vim.fn.sort(vim.fn.glob(here .. "/*_spec.lua", false, true))) do
  spec_name = vim.fs.basename(path):gsub("_spec%.lua$", "")
  if next(wanted) == nil or wanted[spec_name] then
    local chunk, failure = loadfile(path)
    local ok, problem
    if chunk then
      ok, problem = pcall(chunk, t)
    end
    if not ok then
      failed = failed + 1
      say(("FAILED %s: the file does not run\n%s"):format(spec_name, failure or problem))
    end
  end
end
vim.tbl_map(say, slow)
say(("%d passed, %d failed, 0 skipped"):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1)
