--- What Neovim's own LSP client does with a server of ours, without the plugin, version by version. The sidecar and the plugin count on each
--- of these; where a new Neovim does something else, it is seen here first.
local t = ...
local Child = require("child")
local change = require("messages").change

local LINES = { "one", "two", "three" }

--- A Neovim without the plugin, with the fake sidecar for every file.
local function start()
  local child = Child.start(nil, nil, { plugin = false })
  child:lua(
    [[
      local binary = ...
      seen = {}
      vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
        callback = function()
          vim.lsp.start({
            name = "hashline",
            cmd = { binary },
            root_dir = vim.fn.getcwd(),
            handlers = { ["test/seen"] = function(_, params) table.insert(seen, params) end },
          })
        end,
      })
    ]],
    vim.fs.joinpath(t.here, "fake_sidecar")
  )
  return child, child:lua("return vim.fn.has('nvim-0.12') == 1")
end

local function apply(child, changes)
  return child:fake(
    "ask",
    { method = "workspace/applyEdit", params = { edit = { documentChanges = changes } } }
  ).result
end

local function lines_of(child, name)
  return child:lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)", name)
end

t.test("what it says of itself", function()
  local child, is_newer = start()
  child:open("a.txt", LINES)
  local said = child:said("initialize")[1].params.capabilities
  local edits = said.workspace.workspaceEdit
  t.eq(said.general.positionEncodings, { "utf-8", "utf-16", "utf-32" })
  t.eq(edits.documentChanges, nil, "it takes them, and does not say so")
  t.eq(vim.fn.sort(edits.resourceOperations), { "create", "delete", "rename" })
  t.eq(edits.changeAnnotationSupport ~= nil, is_newer)
  t.eq(edits.normalizesLineEndings, is_newer and true or nil)
  t.eq((said.workspace.codeLens or {}).refreshSupport, is_newer and true or nil)
  t.eq(said.workspace.inlayHint.refreshSupport, true)
  t.eq(said.workspace.didChangeWatchedFiles.dynamicRegistration, false)
end)

for name, case in pairs({
  ["older: left out, and said to be applied"] = { 1, false },
  ["newer: applied unchecked"] = { 99, true },
  ["zero: applied unchecked"] = { 0, true },
  ["null: applied unchecked"] = { vim.NIL, true },
}) do
  local version, is_made = unpack(case)
  t.test("an edit for another version, " .. name, function()
    local child = start()
    local uri = child:open("a.txt", LINES)
    t.eq(child:mirror(uri).version, 0, "the first version")
    child:type("Ax<Esc>Ay<Esc>")
    child:has_told(uri, "onexy\ntwo\nthree\n")
    t.ok(child:mirror(uri).version > 1, "versions jump")
    t.eq(apply(child, { change(uri, version, { { 1, 2, "TWO\n" } }) }).applied, true)
    t.eq(child:lines()[2], is_made and "TWO" or "two")
  end)
end

t.test("of two documents only the version of the first is looked at", function()
  local child = start()
  local one = child:open("a.txt", LINES)
  child:cmd("set hidden")
  local two = child:open("b.txt", LINES)
  child:type("Ax<Esc>Ay<Esc>")
  child:has_told(two, "onexy\ntwo\nthree\n")
  local changes = { change(one, 1, { { 0, 1, "ONE\n" } }), change(two, 1, { { 1, 2, "TWO\n" } }) }
  t.eq(apply(child, changes).applied, true)
  t.eq({ lines_of(child, "a.txt")[1], lines_of(child, "b.txt")[2] }, { "ONE", "TWO" })
end)

t.test("what cannot be changed, and what is not open", function()
  local child = start()
  local uri = child:open("a.txt", LINES)
  child:cmd("setlocal nomodifiable")
  local answer = apply(child, { change(uri, 1, { { 0, 1, "ONE\n" } }) })
  t.eq(answer.applied, false)
  local path = vim.fs.joinpath(child.folder, "b.txt")
  vim.fn.writefile(LINES, path)
  local other = vim.uri_from_fname(path)
  child:cmd("autocmd! BufReadPost") -- nobody brings it to the server
  t.eq(apply(child, { change(other, vim.NIL, { { 0, 1, "ONE\n" } }) }).applied, true)
  t.eq(lines_of(child, "b.txt")[1], "ONE", "a hidden buffer")
  t.eq(vim.fn.readfile(path), LINES, "and not the disk")
  t.eq(child:mirror(other), vim.NIL, "of which the server is not told")
end)

t.test("line ends of DOS: taken as either, told as CRLF", function()
  local child = start()
  local uri = child:open("dos.txt", { "one\r", "two\r", "three\r" })
  child:has_told(uri, "one\r\ntwo\r\nthree\r\n")
  apply(child, { change(uri, 1, { { 0, 1, "ONE\r\n" } }) })
  child:has_told(uri, "ONE\r\ntwo\r\nthree\r\n")
  apply(child, { change(uri, child:version(), { { 1, 2, "TWO\nmore\n" } }) })
  child:has_told(uri, "ONE\r\nTWO\r\nmore\r\nthree\r\n")
end)

t.test("ends of files: no final newline, an empty file, a byte-order mark", function()
  local child = start()
  local uri = child:open("a.txt", LINES, "b")
  child:has_told(uri, "one\ntwo\nthree")
  child:cmd("write")
  t.eq(vim.fn.readblob(vim.uri_to_fname(uri)), "one\ntwo\nthree\n", "it is added on the disk")
  t.eq(child:mirror(uri).text, "one\ntwo\nthree", "and not told")
  child:has_told(child:open("empty.txt", {}), "\n")
  uri = child:open("bom.txt", { "\239\187\191one" })
  child:has_told(uri, "one\n")
  t.eq(child:lua("return vim.bo.bomb"), true)
end)

t.test("an append: behind the last line one empty line too many in 0.11, at its end right in both", function()
  local child, is_newer = start()
  local uri = child:open("a.txt", LINES)
  apply(child, { change(uri, 1, { { 3, 3, "four\n" } }) })
  local right = { "one", "two", "three", "four" }
  t.eq(child:lines(), is_newer and right or vim.list_extend(vim.deepcopy(right), { "" }))
  uri = child:open("b.txt", LINES)
  local at_end = { line = 2, character = 5 }
  local edits = { { range = { start = at_end, ["end"] = at_end }, newText = "\nfour" } }
  apply(child, { { textDocument = { uri = uri, version = 1 }, edits = edits } })
  t.eq(child:lines(), right)
end)

t.test("overlapping edits are applied all the same", function()
  local child = start()
  local uri = child:open("a.txt", LINES)
  t.eq(apply(child, { change(uri, 1, { { 0, 2, "A\n" }, { 1, 3, "B\n" } }) }).applied, true)
  t.ok(not vim.deep_equal(child:lines(), LINES), "as something")
end)

t.test("file operations act on the disk at once, and a removal forgets what is not saved", function()
  local child = start()
  local uri = child:open("a.txt", LINES)
  local function there(name)
    return vim.uv.fs_stat(vim.fs.joinpath(child.folder, name)) ~= nil
  end
  local function uri_of(name)
    return vim.uri_from_fname(vim.fs.joinpath(child.folder, name))
  end
  t.eq(apply(child, { { kind = "create", uri = uri_of("made.txt") } }).applied, true)
  t.ok(there("made.txt"), "created")
  t.eq(apply(child, { { kind = "rename", oldUri = uri, newUri = uri_of("b.txt") } }).applied, true)
  t.eq({ there("a.txt"), there("b.txt") }, { false, true })
  t.eq(child:lua("return vim.fn.expand('%:t')"), "b.txt", "the buffer follows")
  child:type("Anot saved<Esc>")
  t.eq(apply(child, { { kind = "delete", uri = uri_of("b.txt") } }).applied, true)
  t.eq({ there("b.txt"), child:lua("return vim.fn.bufloaded('b.txt')") }, { false, 0 })
end)

t.test("an undo is told as any change, a reload as closing and opening", function()
  local child = start()
  local uri = child:open("a.txt", LINES)
  child:type("Ax<Esc>")
  child:has_told(uri, "onex\ntwo\nthree\n")
  child:type("u")
  child:has_told(uri, "one\ntwo\nthree\n")
  t.eq(#child:said("hashline/cause"), 0)
  vim.fn.writefile({ "else" }, vim.uri_to_fname(uri))
  child:cmd("edit!")
  child:has_told(uri, "else\n")
  t.eq({ #child:said("textDocument/didClose"), #child:said("textDocument/didOpen") }, { 1, 2 })
end)

t.test("nulls of a message: gone in 0.11, vim.NIL in 0.12", function()
  local child, is_newer = start()
  child:open("a.txt", LINES)
  child:push("test/seen", { nothing = vim.NIL })
  child:wait("#seen == 1")
  t.eq(child:lua("return { seen[1].nothing == nil, seen[1].nothing == vim.NIL }"), { not is_newer, is_newer })
end)

t.test("what was typed is sent before anything is asked", function()
  local child = start()
  local uri = child:open("a.txt", LINES)
  child:type("Ax<Esc>")
  t.eq(child:mirror(uri).text, "onex\ntwo\nthree\n", "though it waits 150 ms otherwise")
end)
