--- How long Neovim is busy with a key, a scrolled screen, a list of the sidecar's and accepting many hunks at once: in 50,000 lines without hunks, and with 1,000 of
--- them, in turns. nvim -l nvim/tests/frames.lua [ROUNDS], with that Neovim in NVIM_BINARY, prints it as JSON, in milliseconds of the
--- processor's time: what else the machine does is not counted.
local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
package.path = here .. "/?.lua;" .. package.path
local Child, messages = require("child"), require("messages")

local LINES, HUNKS, ACCEPTED, TIMES = 50000, 1000, 400, 40
local rounds = tonumber(arg[1]) or 5

local lines = {}
for i = 1, LINES do
  lines[i] = ("    let value_%d = compute(%d, &context)?; // what line %d is for"):format(i, i * 7, i)
end

--- A held hunk in every fiftieth line: most replace it, some insert behind it.
local function hunks()
  local made = {}
  for number = 1, HUNKS do
    local row = number * LINES / HUNKS - 25
    local line = lines[row + 1]
    made[number] = number % 5 == 0 and { lines = messages.at(row, row), proposed = { line, line } }
      or {
        lines = messages.at(row, row + 1),
        removed = { line },
        proposed = { (line:gsub("context", "scope")) },
      }
  end
  return made
end

--- What the person does, in the middle of the file, where hunks are above and below.
local works = {
  scroll = { "25000Gzt", [[vim.cmd("normal! 5\5")]] },
  page = { "20000Gzt", [[vim.cmd("normal! \6")]] },
  key = { "25010Gzz", [[vim.api.nvim_feedkeys("ax", "nx", false)]] },
  line = { "25010Gzz", [[vim.api.nvim_feedkeys("onew", "nx", false)]] },
}

--- Does something so often, and says how long each took until the screen showed it.
local MEASURE = [[
  local place, times = ...
  vim.cmd("normal! " .. place)
  vim.cmd("redraw")
  local took = {}
  for time = 1, times do
    local began = os.clock()
    %s
    vim.cmd("redraw")
    took[time] = (os.clock() - began) * 1e3
  end
  vim.cmd("silent! undo 0")
  return took
]]

--- Lists that come in turns: read, taken in, drawn as far as they are in sight.
local RECEIVE = [[
  local texts, times = ...
  local client = vim.lsp.get_clients({ name = "hashline" })[1]
  local took = {}
  for time = 1, times do
    local began = os.clock()
    local message = vim.json.decode(texts[time % #texts + 1])
    client.handlers[message.method](nil, message.params, { client_id = client.id })
    vim.cmd("redraw")
    took[time] = (os.clock() - began) * 1e3
  end
  return took
]]

--- Many edits at once, as one undo step, and how long each time until the screen showed them: by Neovim itself, or as a delivery.
local APPLY = [[
  local uri, edits, times, delivers = ...
  local client = vim.lsp.get_clients({ name = "hashline" })[1]
  local took = {}
  for time = 1, times do
    local began = os.clock()
    if delivers then
      local params = { label = "Accept 400 hunks", delivery = time, edit = { changes = { [uri] = vim.deepcopy(edits) } } }
      assert(client.handlers["workspace/applyEdit"](nil, params, { client_id = client.id }).applied)
    else
      vim.lsp.util.apply_text_edits(vim.deepcopy(edits), vim.api.nvim_get_current_buf(), client.offset_encoding)
    end
    vim.cmd("redraw")
    took[time] = (os.clock() - began) * 1e3
    vim.cmd("silent undo")
  end
  return took
]]

--- What accepting the first of the hunks changes.
local function accepted()
  local edits = {}
  for number, hunk in ipairs(vim.list_slice(hunks(), 1, ACCEPTED)) do
    local text = table.concat(hunk.proposed, "\n") .. "\n"
    edits[number] = {
      range = {
        start = { line = hunk.lines.start, character = 0 },
        ["end"] = { line = hunk.lines["end"], character = 0 },
      },
      newText = text,
    }
  end
  return edits
end

local function start()
  local child = Child.start(nil, { 50, 160 }, { longest_ms = 300000 })
  return child, child:open("long.rs", lines)
end

local bare, bare_uri = start()
local full, uri = start()

local function message(edits)
  return vim.json.encode({
    method = "hashline/pendingEdits",
    params = messages.list(uri, full:version(), edits),
  })
end

local without, with = {}, {}
local function add(to, name, took)
  to[name] = vim.list_extend(to[name] or {}, took)
end

-- New ones: in turns with none.
add(with, "offer", full:lua(RECEIVE, { message({ messages.edit(hunks()) }), message({}) }, 4 * rounds))
with.offer = vim
  .iter(ipairs(with.offer))
  :filter(function(time)
    return time % 2 == 0
  end)
  :map(function(_, took)
    return took
  end)
  :totable()
full:wait(
  "#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces().hashline, 0, -1, {}) >= ...",
  HUNKS
)

for _ = 1, rounds do
  for name, work in vim.spairs(works) do
    local code = MEASURE:format(work[2])
    add(without, name, bare:lua(code, work[1], TIMES))
    add(with, name, full:lua(code, work[1], TIMES))
  end
  -- The same again but for one hunk, as after each change of the text.
  local changed = hunks()
  changed[HUNKS / 2].deciding = true
  local both = { message({ messages.edit(hunks()) }), message({ messages.edit(changed) }) }
  add(with, "list", full:lua(RECEIVE, both, TIMES))
  add(without, "accept", bare:lua(APPLY, bare_uri, accepted(), 4, false))
  add(with, "accept", full:lua(APPLY, uri, accepted(), 4, true))
end
Child.stop_all()
print(vim.json.encode({ without = without, with = with }))
os.exit(0)
