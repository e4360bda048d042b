--- The file of an open buffer is renamed or removed as the sidecar asks: where nothing can be lost by it, or not at all.
local t = ...
local messages = require("messages")
local edit, list = messages.edit, messages.list

local LINES = { "one", "two", "three" }

local function beside(child, name)
  return vim.fs.joinpath(child.folder, name)
end

local function rename(child, uri, name)
  return { kind = "rename", oldUri = uri, newUri = vim.uri_from_fname(beside(child, name)) }
end

--- A buffer that was read from a file.
local function start(name, lines)
  local child = t.start()
  local uri = child:open(name, lines)
  return child, uri, beside(child, name)
end

t.test("renamed: the same buffer goes on, with its undo history, marks and windows", function()
  local child, uri, path = start("a.txt", LINES)
  child:type("Goalso<Esc>")
  child:cmd("silent write | split | normal! 2Gma")
  child:type("l")
  local before =
    child:lua('return { vim.fn.winlayout(), vim.fn.getpos("\'a"), vim.fn.getcurpos(), vim.fn.bufnr() }')
  local answer = child:operate(uri, child:version(), rename(child, uri, "deep/er/b.txt"))
  t.eq(answer, { applied = true })
  local new = beside(child, "deep/er/b.txt")
  t.eq({ vim.uv.fs_stat(path), vim.fn.readfile(new) }, { nil, { "one", "two", "three", "also" } })
  t.eq(
    child:lua('return { vim.fn.winlayout(), vim.fn.getpos("\'a"), vim.fn.getcurpos(), vim.fn.bufnr() }'),
    before
  )
  t.eq(child:lua("return { vim.api.nvim_buf_get_name(0), vim.bo.modified }"), { new, false })
  t.wait(function()
    return child:mirror(vim.uri_from_fname(new)) ~= vim.NIL
  end, "it is opened under the new name")
  t.eq(child:mirror(uri), vim.NIL, "and closed under the old one")
  t.eq(child:lua("return vim.fn.bufexists(...)", path), 0, "nothing is left of the old name")
  child:type("u")
  t.eq(child:lines(), LINES, "what was done before can be undone")
  child:cmd("silent write")
  t.eq(vim.fn.readfile(new), LINES, "and written without a question")
end)

t.test("renamed: the bytes stay as they are, and nobody formats them", function()
  local child, uri, path = start("a.txt", LINES)
  local file = assert(io.open(path, "wb"))
  file:write("one\r\ntwo")
  file:close()
  child:cmd("edit!")
  child:cmd("autocmd BufWritePre * call setline(1, 'formatted')")
  t.eq(child:operate(uri, child:version(), rename(child, uri, "b.txt")), { applied = true })
  local made = assert(io.open(beside(child, "b.txt"), "rb"))
  t.eq(made:read("*a"), "one\r\ntwo")
  made:close()
end)

t.test("renamed: who hears of the new name finds the file written", function()
  local child, uri = start("a.txt", LINES)
  child:cmd("autocmd BufFilePost * ++once lua written = pcall(vim.cmd, 'silent write')")
  t.eq(child:operate(uri, child:version(), rename(child, uri, "b.txt")), { applied = true })
  t.eq(child:lua("return written"), true)
end)

t.test("removed: the windows stay and show what was there before", function()
  local child, uri, path = start("a.txt", LINES)
  child:cmd("edit " .. vim.fn.fnameescape(beside(child, "other.txt")))
  child:cmd("silent write | buffer a.txt | split")
  child:settle()
  t.eq(child:operate(uri, 0, { kind = "delete", uri = uri }), { applied = true })
  t.eq(vim.uv.fs_stat(path), nil)
  local shown = "vim.fn.fnamemodify(vim.fn.bufname(vim.fn.winbufnr(%d)), ':t')"
  t.eq(
    child:lua("return { " .. shown:format(1) .. ", " .. shown:format(2) .. " }"),
    { "other.txt", "other.txt" }
  )
  t.eq(child:mirror(uri), vim.NIL, "it is closed")
end)

t.test("removed in the only window: an empty buffer is there", function()
  local child, uri, path = start("a.txt", LINES)
  t.eq(child:operate(uri, 0, { kind = "delete", uri = uri }), { applied = true })
  t.eq({ vim.uv.fs_stat(path), child:lines() }, { nil, { "" } })
  child:type("iafterwards<Esc>")
  t.eq(child:lines(), { "afterwards" })
end)

for name, case in pairs({
  ["not saved"] = { "normal! Gx", "save it first" },
  ["another file has the name"] = { "call writefile(['mine'], expand('%:h') .. '/b.txt')", "there already" },
  ["another buffer has the name"] = { "badd b.txt | call bufload('b.txt')", "another buffer" },
}) do
  t.test("not renamed: " .. name, function()
    local child, uri, path = start("a.txt", LINES)
    child:cmd("cd %:h")
    child:cmd(case[1])
    local answer = child:operate(uri, child:version(), rename(child, uri, "b.txt"))
    t.eq(answer.applied, false)
    t.ok(answer.failureReason:find(case[2], 1, true), answer.failureReason)
    t.eq({ vim.fn.readfile(path), child:lua("return vim.api.nvim_buf_get_name(0)") }, { LINES, path })
  end)
end

t.test("not removed: not saved, typed in since, being typed in", function()
  local child, uri, path = start("a.txt", LINES)
  child:type("Gx")
  local answer = child:operate(uri, child:version(), { kind = "delete", uri = uri })
  t.eq(answer, { applied = false, failureReason = "it has changes that are not saved; save it first" })
  child:cmd("silent write")
  answer = child:operate(uri, 1, { kind = "delete", uri = uri })
  t.ok(answer.failureReason:find("made for version 1", 1, true), answer.failureReason)
  child:type("A")
  answer = child:operate(uri, child:version(), { kind = "delete", uri = uri })
  t.eq(answer, { applied = false, failureReason = "you are typing in it" })
  child:type("<Esc>")
  t.eq(vim.fn.readfile(path), { "one", "two", "hree" })
end)

t.test("a hunk about the file is shown above its first line and decided there", function()
  local child, uri = start("a.txt", LINES)
  local held = edit({ { file = "remove the file", ways = { "accept", "reject" } } }, { tool = "delete_file" })
  child:push("hashline/pendingEdits", list(uri, 0, { held }))
  local screen = child:screen()
  t.ok(screen:find("claude-code · to be deleted", 1, true), screen)
  t.ok(screen:find(":Hashline accept | reject", 1, true), screen)
  child:cmd("1 | Hashline accept")
  t.wait(function()
    return #child:said("hashline/decide") == 1
  end, "it is decided")
  t.eq(child:said("hashline/decide")[1].params.hunk, 1)
  child:answer("hashline/decide", {
    queued = {},
    refused = { { hunk = messages.ID .. ":1", why = "failed", message = "Save it first.", others = {} } },
  })
  child:cmd("1 | Hashline accept")
  t.wait(function()
    return #child:notified() > 0
  end, "why it is not done")
  t.eq(child:notified(), { "hashline: Save it first." })
end)

t.test("a conflicted hunk that can only be rejected offers nothing else", function()
  local child, uri = start("a.txt", LINES)
  local lost = {
    state = "conflicted",
    conflict = "Its place is lost.",
    lines = messages.at(1, 2),
    proposed = { "TWO" },
    ways = { "reject" },
  }
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ lost }) }))
  local screen = child:screen()
  t.ok(screen:find(":Hashline reject", 1, true) and not screen:find("asks", 1, true), screen)
  child:lua("vim.ui.select = function(items, options) offered = vim.tbl_map(options.format_item, items) end")
  child:cmd("2 | Hashline accept")
  t.eq(child:lua("return offered"), { "Reject", "Cancel" })
end)
