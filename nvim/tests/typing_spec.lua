--- Where hunks are while a person types: line numbers in a list belong to its version.
local t = ...
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = {}
for i = 1, 12 do
  LINES[i] = "line " .. i
end

local function hunk(from, to)
  return { lines = at(from, to), removed = vim.list_slice(LINES, from + 1, to), proposed = { "new" } }
end

--- Rows of the hunks as the plugin has them, and of what is drawn.
local function places(child)
  return child:lua([[
    local out = {}
    for _, entry in ipairs(require("hashline.state").of_buffer(0 + vim.api.nvim_get_current_buf()).entries) do
      out[#out + 1] = entry.lines and { entry.lines.start, entry.lines["end"] } or false
    end
    local drawn = {}
    local ns = vim.api.nvim_get_namespaces().hashline
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })) do
      if mark[4].virt_lines then drawn[#drawn + 1] = mark[2] end
    end
    return { out, drawn }
  ]])
end

t.test("hunks and what is drawn move with the typing before the sidecar speaks again", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ hunk(4, 6), hunk(8, 8) }) }))
  t.eq(places(child), { { { 4, 6 }, { 8, 8 } }, { 5, 7 } })
  child:type("ggOabove<CR>more<Esc>")
  t.eq(places(child), { { { 6, 8 }, { 10, 10 } }, { 7, 9 } })
  child:type("ggdd")
  t.eq(places(child), { { { 5, 7 }, { 9, 9 } }, { 6, 8 } })
  child:type("u")
  t.eq(places(child), { { { 6, 8 }, { 10, 10 } }, { 7, 9 } })
  child:type("Goend<Esc>")
  t.eq(places(child), { { { 6, 8 }, { 10, 10 } }, { 7, 9 } })
end)

t.test("a list for an older version is brought to the text as it is", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:type("ggOone<Esc>")
  local version = child:version()
  child:type("Otwo<CR>three<Esc>Gothe end<Esc>")
  child:push("hashline/pendingEdits", list(uri, version, { edit({ hunk(5, 7) }) }))
  t.eq(places(child), { { { 7, 9 } }, { 8 } })
  -- and once more, when the list is for the text as it is
  child:push("hashline/pendingEdits", list(uri, child:version(), { edit({ hunk(7, 9) }) }))
  t.eq(places(child), { { { 7, 9 } }, { 8 } })
end)

t.test("a list older than the one shown is left aside", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:type("ggOone<Esc>")
  child:push("hashline/pendingEdits", list(uri, child:version(), { edit({ hunk(5, 7) }) }))
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ hunk(9, 10) }) }))
  t.eq(places(child), { { { 5, 7 } }, { 6 } })
end)

t.test(
  "what was typed longer ago than is remembered: shown hunks stay, new ones wait for their list",
  function()
    local child = t.start()
    local uri = child:open("a.txt", LINES)
    child:push("hashline/pendingEdits", list(uri, 0, { edit({ hunk(4, 6) }) }))
    child:lua([[
    for i = 1, 2500 do vim.api.nvim_buf_set_lines(0, 0, 0, true, { "typed " .. i }) end
  ]])
    child:push("hashline/pendingEdits", list(uri, 0, { edit({ hunk(4, 6), hunk(8, 9) }) }))
    t.eq(places(child), { { { 2504, 2506 }, false }, { 2505 } })
    child:push(
      "hashline/pendingEdits",
      list(uri, child:version(), { edit({ hunk(2504, 2506), hunk(2508, 2509) }) })
    )
    child:wait("#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces().hashline, 0, -1, {}) >= 5")
    t.eq(places(child), { { { 2504, 2506 }, { 2508, 2509 } }, { 2505, 2508 } })
  end
)

t.test("a reload counts versions anew, and hunks come back with the next list", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:type("ggOone<Esc>")
  child:push("hashline/pendingEdits", list(uri, child:version(), { edit({ hunk(5, 7) }) }))
  child:cmd("edit!")
  child:has_told(uri, table.concat(LINES, "\n") .. "\n") -- opened again
  child:push("hashline/pendingEdits", list(uri, child:mirror(uri).version, { edit({ hunk(4, 6) }) }))
  t.eq(places(child), { { { 4, 6 } }, { 5 } })
  child:type("ggOone<Esc>")
  t.eq(places(child), { { { 5, 7 } }, { 6 } })
end)

t.test("a file that is opened later, or by another way to it, shows what was pending", function()
  local child = t.start()
  child:open("a.txt", LINES)
  local path = vim.fs.joinpath(child.folder, "later.txt")
  vim.fn.writefile(LINES, path)
  vim.uv.fs_symlink(path, vim.fs.joinpath(child.folder, "link.txt"))
  local uri = vim.uri_from_fname(path)
  child:push("hashline/pendingEdits", list(uri, vim.NIL, { edit({ hunk(4, 6) }) }))
  child:cmd("edit link.txt")
  child:wait("vim.lsp.get_clients({ name = 'hashline', bufnr = 0 })[1] ~= nil")
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ hunk(4, 6) }) }))
  t.eq(places(child), { { { 4, 6 } }, { 5 } })
  child:cmd("bwipeout")
  t.eq(child:lua("return #require('hashline.state').all()"), 1, "still known, for the list")
end)

t.test("a new file in a folder that is a link is the same document before and after it is written", function()
  local child = t.start()
  child:open("a.txt", LINES)
  vim.fn.mkdir(child.folder .. "/real")
  vim.uv.fs_symlink(child.folder .. "/real", child.folder .. "/link")
  child:cmd("edit link/new.txt")
  child:settle()
  child:lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)", LINES)
  local uri = vim.uri_from_fname(child.folder .. "/link/new.txt")
  for _, written in ipairs({ false, true }) do
    if written then
      child:cmd("silent write")
    end
    child:push("hashline/pendingEdits", list(uri, child:version(), { edit({ hunk(4, 6) }) }))
    t.eq(places(child), { { { 4, 6 } }, { 5 } }, written and "written" or "not written yet")
    child:push("hashline/pendingEdits", list(uri, child:version(), {}))
  end
end)

t.test("typing at ten keys a second with a hundred hunks: no key waits", function()
  local child = t.start()
  local many = {}
  for i = 1, 5000 do
    many[i] = "line " .. i
  end
  local uri = child:open("a.txt", many)
  local hunks = {}
  for i = 1, 100 do
    hunks[i] =
      { lines = at(i * 40, i * 40 + 1), removed = { "line " .. i * 40 + 1 }, proposed = { "new " .. i } }
  end
  child:push("hashline/pendingEdits", list(uri, 0, { edit(hunks) }))
  child:type("ggO")
  local took = child:lua([[
    local started = vim.uv.hrtime()
    for i = 1, 200 do
      vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { "x" })
      vim.cmd.redraw()
    end
    return (vim.uv.hrtime() - started) / 1e6 / 200
  ]])
  t.ok(took < 20, ("a change and its redraw take %.2f ms"):format(took))
end)
