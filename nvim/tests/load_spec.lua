--- Loading the plugin: in every way that the manual names, and in how much time.
local t = ...
local patience = require("patience")
local plugin = vim.fs.dirname(t.here)

--- A folder for one Neovim's configuration and data.
local function home()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder .. "/config/nvim", "p")
  return vim.uv.fs_realpath(folder)
end

--- Runs Neovim with an init.lua, opens a file, and gives what a Lua expression is then.
---@param folder string
---@param init string
---@param expression string
---@param ... string arguments before the file
local function run(folder, init, expression, ...)
  vim.fn.writefile(vim.split(init, "\n"), folder .. "/config/nvim/init.lua")
  vim.fn.writefile({ "x" }, folder .. "/a.txt")
  local say = ("lua io.stdout:write(vim.json.encode(%s))"):format(expression)
  local command = { vim.env.NVIM_BINARY, "--headless", "-n", "-i", "NONE", ... }
  vim.list_extend(command, { folder .. "/a.txt", "-c", say, "-c", "qa!" })
  local done = vim
    .system(command, {
      text = true,
      cwd = folder,
      env = {
        XDG_CONFIG_HOME = folder .. "/config",
        XDG_DATA_HOME = folder .. "/data",
        XDG_STATE_HOME = folder .. "/state",
        XDG_CACHE_HOME = folder .. "/cache",
        HASHLINE_BIN = t.here .. "/fake_sidecar",
      },
    })
    :wait(2 * patience.LONGEST_MS) -- it may wait itself
  local ok, value = pcall(vim.json.decode, done.stdout)
  t.ok(ok, ("%s\n%s"):format(done.stdout, done.stderr))
  return value
end

--- Whether the plugin is there, and has brought the file to the sidecar.
local WORKS = ([[(function()
  local works = vim.wait(%d, function()
    local client = vim.lsp.get_clients({ name = "hashline", bufnr = 0 })[1]
    return client and client.initialized
  end, 10)
  return { vim.fn.exists(":Hashline"), works }
end)()]]):format(patience.LONGEST_MS)

t.test("from 'runtimepath'", function()
  local init = ("vim.opt.runtimepath:append(%q)"):format(plugin)
  t.eq(run(home(), init, WORKS), { 2, true })
end)

for _, kind in ipairs({ "start", "opt" }) do
  t.test("as a package, linked into pack/*/" .. kind, function()
    local folder = home()
    local pack = folder .. "/data/nvim/site/pack/hashline/" .. kind
    vim.fn.mkdir(pack, "p")
    assert(vim.uv.fs_symlink(plugin, pack .. "/hashline"))
    t.eq(run(folder, kind == "opt" and "vim.cmd.packadd('hashline')" or "", WORKS), { 2, true })
    local repository = [[(function()
      vim.env.PATH = "" -- where one may be, too
      local locator = require("hashline.locator")
      local _, sentence = locator.find("", "")
      return sentence or locator.find("", "").path
    end)()]]
    local found = run(folder, kind == "opt" and "vim.cmd.packadd('hashline')" or "", repository)
    local is_of_it = found:find(t.repository .. "/target/release/hashline", 1, true)
    t.ok(is_of_it, "the repository is found through the link: " .. found)
  end)
end

t.test("late, when a file is open already", function()
  local folder = home()
  local late = ("(function() vim.opt.runtimepath:append(%q) vim.cmd.runtime('plugin/hashline.lua') return %s end)()"):format(
    plugin,
    WORKS
  )
  t.eq(run(folder, "", late), { 2, true })
end)

if vim.fn.has("nvim-0.12") == 1 then
  t.test("by vim.pack, from a repository whose folder nvim it is", function()
    local folder = home()
    local repository = folder .. "/hashline"
    vim.fn.mkdir(repository)
    local function git(...)
      local done = vim
        .system(
          { "git", "-C", repository, "-c", "user.name=test", "-c", "user.email=test@localhost", ... },
          { text = true }
        )
        :wait(patience.LONGEST_MS)
      t.eq(done.code, 0, done.stderr)
    end
    vim.fn.system({ "cp", "-r", plugin, repository .. "/nvim" })
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message=all")
    local init = ([[
      vim.pack.add({ "file://%s" }, {
        confirm = false,
        load = function(plugin) vim.opt.runtimepath:append(plugin.path .. "/nvim") end,
      })
    ]]):format(repository)
    t.eq(run(folder, init, WORKS), { 2, true })
  end)
end

t.test("in less than a millisecond", function()
  local folder, took = home(), {}
  local init = ("vim.opt.runtimepath:append(%q)"):format(plugin)
  for round = 1, 11 do
    local log = folder .. "/startup" .. round
    run(folder, init, "1", "--startuptime", log)
    for line in io.lines(log) do
      local of_it = line:match("^%S+%s+(%S+).*sourcing .*/plugin/hashline%.lua")
      took[round] = of_it and tonumber(of_it) or took[round]
    end
  end
  t.eq(#took, 11)
  table.sort(took)
  t.note(("     loaded in %.2f ms (the fastest of 11; median %.2f)"):format(took[1], took[6]))
  -- It is time on the clock: what else the machine does only adds to it.
  t.ok(took[1] < 1, vim.inspect(took))
end)
