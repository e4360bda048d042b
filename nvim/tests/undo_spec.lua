--- The mark that a change is an undo or a redo.
local t = ...
local messages = require("messages")

local function start()
  local child = t.start()
  local uri = child:open("a.txt", { "one", "two", "three" })
  child:push(
    "hashline/pendingEdits",
    messages.list(uri, 0, {
      messages.edit({ { lines = messages.at(2, 3), removed = { "three" }, proposed = { "THREE" } } }),
    })
  )
  return child, uri
end

local function kinds(child)
  return table.concat(
    vim.tbl_map(function(message)
      return message.params.kind
    end, child:said("hashline/undo")),
    " "
  )
end

for _, case in ipairs({
  { "ggAx<Esc>", "u", "undo" },
  { "ggAx<Esc>yyp", "uu", "undo undo" },
  { "ggAx<Esc>yyp", "2u", "undo undo" },
  { "yyp", "u<C-r>", "undo redo" },
  { "yypp", "uu<C-r><C-r>u", "undo undo redo redo undo" },
  { "x", "uxu", "undo undo" },
  { "xx", "g-g+", "undo redo" },
  { "xx", ":undo 0<CR>", "undo undo" },
  { "ggA12", "<C-o>u3<Esc>", "undo" },
  { "ggA12", "<Cmd>undo<CR>3<Esc>", "undo" },
  { "qaAx<Esc>uq", "@a", "undo undo" },
  { "x", "yypAhello<Esc>ddP:s/o/0/<CR>", "" },
}) do
  t.test(("%s, then %s: %s"):format(case[1], case[2], case[3] ~= "" and case[3] or "no mark"), function()
    local child, uri = start()
    child:type(case[1])
    child:type(case[2])
    t.eq(kinds(child), case[3])
    child:has_told(uri, table.concat(child:lines(), "\n") .. "\n")
  end)
end

t.test("the mark is said before the change that it marks", function()
  local child, uri = start()
  child:type("ggAx<Esc>")
  child:has_told(uri, "onex\ntwo\nthree\n")
  child:type("u")
  child:has_told(uri, "one\ntwo\nthree\n")
  local order = vim.tbl_map(function(message)
    return message.method
  end, child:said())
  t.eq(vim.list_slice(order, #order - 1), { "hashline/undo", "textDocument/didChange" })
end)

t.test("an undone delivery is marked", function()
  local child, uri = start()
  child:deliver(uri, 1, { { 2, 3, "THREE\n" } })
  child:type("u")
  t.eq(kinds(child), "undo")
  t.eq(child:lines(), { "one", "two", "three" })
end)

t.test("no mark where no agent edits, and an LSP edit in another buffer is none", function()
  local child = t.start()
  child:open("a.txt", { "one" })
  child:type("xu")
  t.eq(kinds(child), "")
end)
