--- Starting: which buffers, which root, which binary, what is announced; and the end.
local t = ...
local patience = require("patience")

t.test("announces itself, with the editor's version", function()
  local child =
    t.start({ mode = { open = "apply", rules = { { agent = "codex", glob = "**", mode = "propose" } } } })
  child:open("a.txt", { "x" })
  local initialize = child:said("initialize")[1].params
  t.eq(initialize.capabilities.experimental, { hashline = { protocol = 2, version = "0.1.0" } })
  t.eq(initialize.initializationOptions.hashline.mode, {
    open = "apply",
    disk = "apply",
    hold = {},
    rules = { { agent = "codex", glob = "**", mode = "propose" } },
  })
  local command = child:lua("return vim.lsp.get_clients()[1].config.cmd")
  t.eq({ command[2], command[3] }, { "lsp", "--editor" })
  t.ok(command[4]:find("^Neovim 0%.%d+%.%d+$"), command[4])
end)

t.test(
  "files, new files and files in other folders; not scratch, help, terminal or unnamed buffers",
  function()
    local child = t.start()
    child:open("a.txt", { "x" })
    local function clients()
      child:settle()
      return child:lua("return #vim.lsp.get_clients({ name = 'hashline', bufnr = 0 })")
    end
    child:cmd("edit new.txt")
    t.eq(clients(), 1, "a new file")
    child:cmd("help | only")
    t.eq(clients(), 0, "help")
    child:cmd("enew | setlocal buftype=nofile | file scratch")
    t.eq(clients(), 0, "scratch")
    child:cmd("enew")
    t.eq(clients(), 0, "unnamed")
    child:cmd("write named.txt")
    t.eq(clients(), 1, "once it has a name")
    child:cmd("enew | let b:hashline_enabled = v:false | file off.txt")
    t.eq(clients(), 0, "turned off for the buffer")
    t.eq(child:lua("return #vim.lsp.get_clients()"), 1, "one sidecar for all of them")
  end
)

t.test("the root: the repository before the package in it, else the working directory", function()
  local child = t.start()
  vim.fn.mkdir(child.folder .. "/repo/.git", "p")
  vim.fn.writefile({ "ref: refs/heads/main" }, child.folder .. "/repo/.git/HEAD")
  vim.fn.mkdir(child.folder .. "/repo/package", "p")
  vim.fn.writefile({ "{}" }, child.folder .. "/repo/package/package.json")
  vim.fn.mkdir(child.folder .. "/alone", "p")
  vim.fn.writefile({ "{}" }, child.folder .. "/alone/package.json")
  local function root()
    return child:lua("return vim.lsp.get_clients({ name = 'hashline', bufnr = 0 })[1].root_dir")
  end
  child:open("repo/package/a.txt", { "x" })
  t.eq(root(), child.folder .. "/repo")
  child:open("alone/a.txt", { "x" })
  t.eq(root(), child.folder .. "/alone")
  child:open("b.txt", { "x" })
  t.eq(root(), child.folder)
  t.eq(child:lua("return #vim.lsp.get_clients()"), 3)
end)

t.test("an empty .git marks no project: the sandboxes of agents leave such folders behind", function()
  local child = t.start()
  vim.fn.mkdir(child.folder .. "/sandboxed/.git", "p")
  vim.fn.mkdir(child.folder .. "/sandboxed/inner", "p")
  child:open("sandboxed/inner/a.txt", { "x" })
  t.eq(child:lua("return vim.lsp.get_clients({ name = 'hashline', bufnr = 0 })[1].root_dir"), child.folder)
end)

t.test("no binary: one sentence, once, and :checkhealth says it, too", function()
  local child = t.start({ binary = "/no/such/hashline" })
  child:cmd("edit a.txt")
  child:wait("#notified == 1")
  child:cmd("edit b.txt")
  child:settle()
  t.eq(#child:notified(), 1)
  t.ok(child:notified()[1]:find("the setting `binary` says /no/such/hashline", 1, true), child:notified()[1])
  child:cmd("checkhealth hashline")
  local health = table.concat(child:lines(), "\n")
  t.ok(health:find("/no/such/hashline, which is no executable file", 1, true), health)
end)

t.test(
  "a sidecar of another protocol is named and ended, once, and is started again when asked for",
  function()
    local child = t.start()
    child:lua("vim.env.FAKE_SIDECAR_PROTOCOL = '9'")
    child:cmd("edit a.txt")
    child:wait("#notified == 1")
    local said = child:notified()[1]
    t.ok(
      said:find(
        "/fake_sidecar: it speaks protocol 9, this plugin 2; update this plugin, then :Hashline restart"
      ),
      said
    )
    child:wait("#vim.lsp.get_clients() == 0")
    child:cmd("edit b.txt")
    child:settle()
    t.eq({ #child:notified(), child:lua("return #vim.lsp.get_clients()") }, { 1, 0 })
    child:lua("vim.env.FAKE_SIDECAR_PROTOCOL = '2'")
    child:cmd("Hashline restart")
    child:wait("#vim.lsp.get_clients() == 1")
  end
)

--- A fake sidecar that notes that it was started, and its hash.
local function noted(child, words)
  local path = vim.fs.joinpath(child.folder, "hashline")
  local note = ("echo %s >>'%s/started'"):format(words, child.folder)
  vim.fn.writefile({ "#!/bin/sh", note, ("exec '%s/fake_sidecar' \"$@\""):format(t.here) }, path)
  vim.fn.setfperm(path, "rwx------")
  return path, "sha256:" .. vim.fn.sha256(table.concat(vim.fn.readfile(path, "b"), "\n"))
end

local function started(child)
  local notes = vim.fs.joinpath(child.folder, "started")
  return vim.fn.filereadable(notes) == 1 and vim.fn.readfile(notes) or {}
end

t.test("the binary with the pinned hash is started, by the file that was hashed", function()
  local child = t.start()
  local path, hash = noted(child, "good")
  child:lua("vim.g.hashline = { binary = ..., binary_hash = select(2, ...), notify = false }", path, hash)
  child:open("a.txt", { "x" })
  child:open("b.txt", { "x" })
  t.eq(started(child), { "good" })
  local command = child:lua("return vim.lsp.get_clients()[1].config.cmd")
  t.eq({ unpack(command, 2, 9) }, { "package", "verify-binary", path, "--hash", hash, "--run", "--", "lsp" })
  if vim.uv.os_uname().sysname == "Linux" then
    t.ok(command[1]:find("^/proc/%d+/fd/%d+$"), command[1])
    t.eq(child:lua("return vim.uv.fs_stat(...) == nil", command[1]), true, "the file is let go of")
  end
  child:cmd("checkhealth hashline")
  t.ok(table.concat(child:lines(), "\n"):find("hashline 0.0.0 (fake)", 1, true))
end)

t.test("a tampered binary is not started, and it is said once what was expected and what is there", function()
  local child = t.start()
  local _, expected = noted(child, "good")
  local path, actual = noted(child, "bad")
  child:lua("vim.g.hashline = { binary = ..., binary_hash = select(2, ...), notify = false }", path, expected)
  child:lua("require('hashline.pinned_binary').kept = ...", child.folder .. "/kept")
  child:cmd("edit a.txt")
  child:wait("#notified == 1")
  child:cmd("edit b.txt")
  child:settle()
  t.eq({ #child:notified(), child:lua("return #vim.lsp.get_clients()"), started(child) }, { 1, 0, {} })
  for _, part in ipairs({ path, expected, actual, "the setting `binary`", "not started" }) do
    t.ok(child:notified()[1]:find(part, 1, true), child:notified()[1])
  end
  child:cmd("checkhealth hashline")
  t.ok(table.concat(child:lines(), "\n"):find("not started", 1, true))
  t.eq(started(child), {})
end)

t.test("the last good binary runs instead of a tampered one", function()
  local child = t.start()
  local path, expected = noted(child, "good")
  local kept = vim.fs.joinpath(child.folder, "kept", expected:sub(8))
  vim.fn.mkdir(kept, "p")
  assert(vim.uv.fs_copyfile(path, kept .. "/hashline"))
  noted(child, "bad")
  child:lua("vim.g.hashline = { binary = ..., binary_hash = select(2, ...), notify = false }", path, expected)
  child:lua("require('hashline.pinned_binary').kept = ...", child.folder .. "/kept")
  child:open("a.txt", { "x" })
  t.eq(started(child), { "good" })
  t.ok(child:notified()[1]:find("The last good one runs instead", 1, true), child:notified()[1])
  t.eq(child:lua("return vim.lsp.get_clients()[1].config.cmd")[4], kept .. "/hashline")
end)

t.test(":checkhealth with all well", function()
  local child = t.start()
  child:open("a.txt", { "x" })
  child:cmd("checkhealth hashline")
  local health = table.concat(child:lines(), "\n")
  t.ok(not health:find("ERROR") and not health:find("WARN"), health)
  t.ok(health:find("hashline 0.0.0 (fake)", 1, true), health)
  t.ok(health:find("protocol 2", 1, true), health)
end)

t.test("wrong settings are told, and the rest holds", function()
  local child = t.start({ signs = 3, max_lines = 2 })
  child:open("a.txt", { "x" })
  t.eq(child:notified(), { "hashline: `signs` is 3; expected a boolean" })
  t.eq(
    child:lua(
      "return { require('hashline.config').get('signs'), require('hashline.config').get('max_lines') }"
    ),
    { true, 2 }
  )
end)

t.test("setup{} does what vim.g.hashline does", function()
  local child = t.start()
  child:lua("require('hashline').setup({ binary = vim.g.hashline.binary, notify = false, signs = false })")
  child:open("a.txt", { "x" })
  t.eq(child:lua("return require('hashline.config').get('signs')"), false)
end)

t.test("restart: another process, the same buffers, what is unsaved, too", function()
  local child = t.start()
  local uri = child:open("a.txt", { "x" })
  child:type("yyp")
  local first = child:lua("return vim.lsp.get_clients()[1].id")
  child:cmd("Hashline restart")
  child:wait(
    "(vim.lsp.get_clients({ bufnr = 0 })[1] or { id = ... }).id ~= ... and vim.lsp.get_clients({ bufnr = 0 })[1].initialized",
    first
  )
  child:has_told(uri, "x\nx\n") -- unsaved as it is
  t.eq(child:notified(), {})
end)

t.test("a sidecar that dies is told once", function()
  local child = t.start()
  child:open("a.txt", { "x" })
  child:lua("vim.lsp.get_clients()[1]:notify('exit')")
  child:wait("#notified == 1")
  t.ok(child:notified()[1]:find("the sidecar ended by itself", 1, true), child:notified()[1])
end)

t.test("completion", function()
  local child = t.start()
  t.eq(child:lua("return vim.fn.getcompletion('Hashline ', 'cmdline')"), {
    "accept",
    "comment",
    "conversation",
    "diff",
    "edit",
    "history",
    "keep",
    "list",
    "next",
    "pick",
    "prev",
    "reason",
    "reject",
    "rejected",
    "reopen",
    "restart",
    "review",
    "status",
    "undo",
  })
  t.eq(child:lua("return vim.fn.getcompletion('Hashline conversation re', 'cmdline')"), { "reject" })
  t.eq(child:lua("return vim.fn.getcompletion('Hashline conversation reject th', 'cmdline')"), {})
  t.eq(
    child:lua("return vim.fn.getcompletion('Hashline re', 'cmdline')"),
    { "reason", "reject", "rejected", "reopen", "restart", "review" }
  )
  t.eq(child:lua("return vim.fn.getcompletion('Hashline reject th', 'cmdline')"), {})
end)

t.test("nothing is required when Neovim starts", function()
  local child = t.start()
  t.eq(
    child:lua([[
    return vim.tbl_filter(function(name) return name:find("^hashline") ~= nil end, vim.tbl_keys(package.loaded))
  ]]),
    {}
  )
end)

t.test("the help page has its tags", function()
  local child = t.start()
  -- In a copy: the tags belong to whoever installs the plugin.
  local copy = vim.fs.joinpath(child.folder, "doc")
  vim.fn.mkdir(copy)
  assert(vim.uv.fs_copyfile(vim.fs.dirname(t.here) .. "/doc/hashline.txt", copy .. "/hashline.txt"))
  child:lua("vim.opt.runtimepath:prepend(...); vim.cmd.helptags(select(2, ...))", child.folder, copy)
  for _, tag in ipairs({ "hashline", ":Hashline-accept", "hashline-mode.open", "HashlineUpdate" }) do
    child:cmd("help " .. tag)
    t.eq(child:lua("return vim.uv.fs_realpath(vim.api.nvim_buf_get_name(0))"), copy .. "/hashline.txt")
  end
end)

t.test("typed while no sidecar runs, and after the next one does: it has all of it", function()
  local child = t.start()
  local uri = child:open("a.txt", { "x" })
  child:lua("vim.lsp.get_clients()[1]:notify('exit')")
  child:wait("#notified == 1")
  child:type("yyp")
  child:cmd("Hashline restart")
  child:wait("vim.lsp.get_clients({ bufnr = 0 })[1] and vim.lsp.get_clients({ bufnr = 0 })[1].initialized")
  child:has_told(uri, "x\nx\n")
  local messages = require("messages")
  local edits = { messages.edit({ { lines = messages.at(1, 2), removed = { "x" }, proposed = { "y" } } }) }
  child:push("hashline/pendingEdits", messages.list(uri, child:mirror(uri).version, edits))
  local function line()
    return child:lua(
      "return require('hashline.state').of_buffer(vim.api.nvim_get_current_buf()).entries[1].lines.start"
    )
  end
  t.eq(line(), 1, "lines typed before it was opened are in its line numbers already")
  child:type("ggOtop<Esc>")
  t.eq(line(), 2)
  child:has_told(uri, "top\nx\nx\n")
end)

t.test(
  "typed before the sidecar has started: its line numbers are those of the text that it was given",
  function()
    local child = t.start()
    local path = vim.fs.joinpath(child.folder, "a.txt")
    local uri = vim.uri_from_fname(path)
    vim.fn.writefile({ "one", "two" }, path)
    child:lua(
      [[
      local path, longest_ms = ...
      vim.cmd.edit(path)
      vim.wait(longest_ms, function() return vim.lsp.get_clients({ _uninitialized = true })[1] ~= nil end, 1)
      assert(not vim.lsp.get_clients({ _uninitialized = true })[1].initialized)
      vim.api.nvim_buf_set_lines(0, 0, 0, true, { "typed" })
    ]],
      path,
      patience.LONGEST_MS
    )
    child:wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1")
    child:has_told(uri, "typed\none\ntwo\n")
    local messages = require("messages")
    local edits =
      { messages.edit({ { lines = messages.at(1, 2), removed = { "one" }, proposed = { "y" } } }) }
    child:push("hashline/pendingEdits", messages.list(uri, child:mirror(uri).version, edits))
    t.eq(
      child:lua("return require('hashline.state').of_buffer(vim.api.nvim_get_current_buf()).entries[1].lines"),
      messages.at(1, 2)
    )
  end
)
