--- A buffer that gets another name is another document: `:saveas`, `:file`, and back.
local t = ...
local Scene = require("scene")
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = { "one", "two", "three" }

local function held()
  return { edit({ { lines = at(1, 2), removed = { "two" }, proposed = { "TWO" } } }) }
end

--- How the documents were opened and closed, by their names.
local function opened_and_closed(child)
  local out = {}
  for _, message in ipairs(child:said()) do
    local what = (message.method or ""):match("^textDocument/did(%u%l+)$")
    if what == "Open" or what == "Close" then
      out[#out + 1] = what .. " " .. vim.fs.basename(message.params.textDocument.uri)
    end
  end
  return out
end

for command, name in pairs({ saveas = "other.txt", file = "named.txt" }) do
  t.test((":%s: the old document is closed as it was, the new one opened"):format(command), function()
    local child = t.start()
    local uri = child:open("a.txt", LINES)
    local before = child:screen()
    child:push("hashline/pendingEdits", list(uri, 0, held()))
    t.eq(child:lua("return vim.b.hashline_status"), "1 pending")
    -- A change that is not sent yet belongs to the old name, one right behind the command to the new one.
    child:cmd(("execute 'normal! GAx' | silent %s %s | execute 'normal! GAy'"):format(command, name))
    t.eq(opened_and_closed(child), { "Open a.txt", "Close a.txt", "Open " .. name })
    local changes = child:said("textDocument/didChange")
    t.eq(changes[1].params.textDocument.uri, uri, "what was typed before")
    local other = vim.uri_from_fname(vim.fs.joinpath(child.folder, name))
    child:has_told(other, "one\ntwo\nthreexy\n")
    child:type("u")
    child:type("u")
    child:cmd("set nomodified")
    t.eq(child:screen(), before, "nothing of the old document's is drawn")
    t.eq(child:lua("return vim.b.hashline_status"), "")
    child:cmd("Hashline accept!")
    child:cmd("2 | Hashline accept")
    t.eq(child:notified(), {
      "Nothing to review in this file. 1 in 1 other file: :Hashline next",
      "Nothing to review in this file. 1 in 1 other file: :Hashline next",
    })
    t.eq(child:said("hashline/decide"), {})
    -- The list of the old document, which is not open any longer, changes nothing here.
    child:push("hashline/pendingEdits", list(uri, vim.NIL, held()))
    t.eq(child:screen(), before)
    t.eq(child:deliver(uri, child:version(), { { 1, 2, "TWO\n" } }).applied, false)
    child:push("hashline/pendingEdits", list(other, child:version(), held()))
    t.ok(child:screen():find("TWO", 1, true), "what comes for the new one is drawn")
    t.eq(child:lua("return vim.b.hashline_status"), "1 pending")
    child:cmd("2 | Hashline accept")
    t.wait(function()
      return #child:said("hashline/decide") == 1
    end, "it is decided")
    t.eq(child:said("hashline/decide")[1].params.uri, other)
    t.eq(child:deliver(other, child:version(), { { 1, 2, "TWO\n" } }).applied, true)
  end)
end

t.test("renamed without a word: nothing is decided, drawn or delivered under the old name", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:push("hashline/pendingEdits", list(uri, 0, held()))
  child:cmd("noautocmd file b.txt")
  child:cmd("Hashline accept!")
  t.eq(child:notified(), { "Nothing to review in this file. 1 in 1 other file: :Hashline next" })
  t.eq(child:deliver(uri, 1, { { 1, 2, "TWO\n" } }).applied, false)
  t.eq(child:lines(), LINES)
end)

t.test("renamed while the choice is open: the choice decides nothing", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  local conflicted =
    { state = "conflicted", conflict = "you changed line 2", lines = at(1, 2), proposed = { "TWO" } }
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ conflicted }) }))
  child:lua("vim.ui.select = function(items, _, choose) later = function() choose(items[2], 2) end end")
  child:cmd("2 | Hashline accept")
  child:cmd("file b.txt")
  child:lua("later()")
  t.eq(child:said("hashline/decide"), {})
  t.eq(child:notified(), { "hashline: this file is not in its buffer any longer; nothing was decided" })
end)

t.test("named so that it is no file of the sidecar's, changed, and named back", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:cmd("file other://place")
  t.eq(opened_and_closed(child), { "Open a.txt", "Close a.txt" })
  child:type("GAx<Esc>")
  child:cmd("file a.txt")
  child:type("GAy<Esc>")
  child:has_told(uri, "one\ntwo\nthreexy\n") -- what was typed before and after
end)

t.test(
  "with the sidecar: accept! after :saveas leaves the old file alone, and the new one is reviewed",
  function()
    local scene = Scene.start({})
    local child = scene.child
    local saved = table.concat(Scene.FILE, "\n") .. "\n"
    local path = scene:open("greet.js", saved)
    local agent = scene:agent(path)
    agent:edit(path, agent:read(path), Scene.THREE)
    scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" })
    for _, case in ipairs({ { "saveas", "other.js" }, { "file", "third.js" } }) do
      child:cmd("silent " .. table.concat(case, " "))
      child:cmd("Hashline accept!")
      local now = vim.fs.joinpath(scene.folder, case[2])
      t.eq(scene:hunks(), {})
      t.wait(function() -- a file that is nowhere but in the editor
        return not agent:try("read_text_file", { path = now }).refused
      end, "the sidecar knows " .. case[2])
      local read = scene:reads(agent, now)
      t.eq(child:notified(), { "Nothing to review in this file. 3 in 1 other file: :Hashline next" }, case[2])
      t.eq(Scene.bytes(path), saved, "the old file is as it was")
      t.eq(child:lines(), Scene.FILE)
      agent:edit(now, read, { { "replace", "Hello", "  return 1;" } })
      scene:shows({ "1 held 1-2" }, "the edit of the new one is drawn")
      child:cmd("Hashline accept!")
      scene:has(Scene.with(Scene.FILE, { { 2, 2, { "  return 1;" } } }))
      scene:shows({})
      child:type("u")
      scene:shows({ "1 held 1-2" })
      child:cmd("Hashline reject!")
      scene:shows({})
      child:lua("notified = {}")
    end
    child:cmd("edit! greet.js")
    scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" }, "the old file's edits waited")
  end
)

t.test("reloaded under its new name, while the old file is in another buffer", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:cmd("silent saveas b.txt | silent edit a.txt | silent buffer b.txt")
  local new = vim.uri_from_fname(vim.fs.joinpath(child.folder, "b.txt"))
  child:lua([[
    vim.fn.writefile({ "one", "two", "three", "from outside" }, "b.txt")
    vim.o.autoread = true
    vim.cmd("checktime")
  ]])
  t.eq(child:lines()[4], "from outside")
  child:type("GAy<Esc>")
  child:has_told(new, "one\ntwo\nthree\nfrom outsidey\n")
  t.ok(child:mirror(uri) ~= vim.NIL, "the old file stays open")
  t.eq(
    opened_and_closed(child),
    { "Open a.txt", "Close a.txt", "Open b.txt", "Open a.txt", "Close b.txt", "Open b.txt" }
  )
end)

t.test("saved into another project: its own sidecar has it", function()
  local child = t.start()
  child:open("a.txt", LINES)
  vim.fn.mkdir(child.folder .. "/other/.git", "p")
  vim.fn.writefile({ "ref: refs/heads/main" }, child.folder .. "/other/.git/HEAD")
  child:cmd("silent saveas other/a.txt")
  child:wait("#vim.lsp.get_clients({ name = 'hashline' }) == 2 and #vim.lsp.get_clients({ bufnr = 0 }) == 1")
  t.eq(child:lua("return vim.lsp.get_clients({ bufnr = 0 })[1].root_dir"), child.folder .. "/other")
end)
