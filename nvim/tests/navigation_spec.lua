--- Going from hunk to hunk.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local three = require("three_hunks")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = three.LINES

t.test("next and previous, with counts, around the end, and back by the jump list", function()
  local child = three.start(t)
  local rows = {}
  for _, command in ipairs({ "next", "next", "next", "next", "prev", "next 2", "prev 2" }) do
    child:cmd("Hashline " .. command)
    rows[#rows + 1] = child:cursor()[1]
  end
  t.eq(rows, { 5, 20, 40, 5, 40, 20, 40 })
  t.eq(child:cursor()[2], 2, "on the first character")
  child:type("<C-o>")
  t.eq(child:cursor()[1], 20)
end)

t.test(
  "hunks that share a line are gone to one by one, and the one gone to is the one that is meant",
  function()
    local child = t.start()
    local uri = child:open("a.txt", LINES)
    child:push(
      "hashline/pendingEdits",
      list(uri, 0, {
        edit({
          { lines = at(4, 5), removed = { "  line 5" }, proposed = { "five" } },
          { lines = at(5, 5), proposed = { "more" } },
          { lines = at(5, 5), proposed = { "and more" } },
          { lines = at(9, 10), removed = { "  line 10" } },
        }),
      })
    )
    local function accepted()
      local before = #child:said("hashline/decide")
      child:cmd("Hashline accept")
      t.wait(function()
        return #child:said("hashline/decide") > before
      end, "it is decided")
      return child:said("hashline/decide")[before + 1].params.hunk
    end
    local seen = {}
    for _, command in ipairs({ "next", "next", "next", "next", "prev", "prev", "prev" }) do
      child:cmd("Hashline " .. command)
      child:settle()
      seen[#seen + 1] = { child:cursor()[1], accepted() }
    end
    t.eq(seen, { { 5, 1 }, { 5, 2 }, { 5, 3 }, { 10, 4 }, { 5, 3 }, { 5, 2 }, { 5, 1 } })
    child:cmd("Hashline next 2")
    child:type("kj")
    t.eq(accepted(), 1, "the cursor went elsewhere and came back: it is the line's own again")
  end
)

t.test("it says where one is, and shows the virtual lines below the last line of the window", function()
  local child = three.start(t)
  child:cmd("Hashline prev")
  t.screen(child, "next_hunk_at_the_end")
end)

t.test("nothing to go to", function()
  local child = t.start()
  child:open("b.txt", { "x" })
  child:cmd("Hashline next")
  t.eq(child:cursor(), { 1, 0 })
end)

--- A file that is open with three hunks, one before it in the list that is open with one, and one after it that is not open with two.
local function several_files()
  local child = t.start(nil, { 16, 90 })
  local function push(uri, version, hunks, id)
    child:push("hashline/pendingEdits", list(uri, version, { edit(hunks, { id = id }) }))
  end
  local closed = vim.uri_from_fname(vim.fs.joinpath(child.folder, "c.txt"))
  vim.fn.writefile(LINES, vim.uri_to_fname(closed))
  local first = child:open("a.txt", LINES)
  push(first, 0, { { lines = at(9, 10), removed = { LINES[10] } } }, "of_a")
  push(child:open("b.txt", LINES), 0, three.hunks(), "of_b")
  local theirs = {
    { lines = at(2, 3), removed = { LINES[3] }, proposed = { "three" } },
    { lines = at(29, 30), removed = { LINES[30] } },
  }
  push(closed, vim.NIL, theirs, "of_c")
  return child,
    function(version, more_lines)
      for _, hunk in ipairs(theirs) do
        hunk.lines = at(hunk.lines.start + more_lines, hunk.lines["end"] + more_lines)
      end
      push(closed, version, theirs, "of_c")
    end
end

local function place(child)
  return { child:lua("return vim.fn.expand('%:t')"), child:cursor()[1] }
end

t.test("from the last hunk of a file on to the next file, in the order of the list, and back", function()
  local child, tell = several_files()
  local function goes(command, expected)
    child:cmd("Hashline " .. command)
    t.eq(place(child), expected, command)
  end
  goes("next 3", { "b.txt", 40 })
  goes("next", { "c.txt", 3 })
  tell(0, 0)
  t.eq(child:lua("return #vim.fn.getbufinfo({ buflisted = 1 })"), 3)
  goes("next", { "c.txt", 30 })
  goes("next", { "a.txt", 10 })
  goes("prev", { "c.txt", 30 })
  goes("prev 3", { "b.txt", 20 })
  goes("next 4", { "a.txt", 10 })
  goes("next 2", { "b.txt", 20 })
  child:cmd("nmap [h <Plug>(HashlinePrev)")
  child:type("2[h")
  t.eq(place(child), { "a.txt", 10 }, "with a count by key")
  child:type("<C-o>")
  t.eq(place(child), { "b.txt", 20 }, "back by the jump list")
  child:cmd("enew")
  goes("next", { "a.txt", 10 })
  child:cmd("edit " .. child.folder .. "/bb.txt")
  goes("next", { "c.txt", 3 })
  child:cmd("buffer bb.txt")
  goes("prev", { "b.txt", 40 })
end)

t.test("a line says which file was gone to, and how many hunks it has", function()
  local child = several_files()
  for _, command in ipairs({ "next 4", "next", "next", "next" }) do
    child:cmd("Hashline " .. command)
  end
  t.eq(child:echoed(), {
    "c.txt · #1 · 2 left · claude-code · line 3 · +1 -1 · held",
    "#2 · 2 left · claude-code · -1 · held",
    "a.txt · #1 · 1 left · claude-code · line 10 · -1 · held",
    "b.txt · #1 · 3 left · claude-code · lines 5 to 6 · +1 -2 · held",
  })
end)

t.test(
  "in a file that was opened for it, the hunk is gone to where the sidecar says it is by then",
  function()
    local child, tell = several_files()
    child:cmd("Hashline next 4")
    t.eq(place(child), { "c.txt", 3 })
    tell(0, 5)
    child:settle()
    t.eq(place(child), { "c.txt", 8 })
    child:cmd("Hashline prev")
    t.eq(place(child), { "b.txt", 40 })
    child:cmd("bwipeout! c.txt | Hashline next")
    child:type("5G")
    tell(0, 1)
    child:settle()
    t.eq(place(child), { "c.txt", 5 }, "not when the person went elsewhere meanwhile")
  end
)

t.test("from help or a window with nothing but the list: into a window of files", function()
  local child = several_files()
  child:cmd("help | Hashline next")
  t.eq(place(child), { "a.txt", 10 })
  t.eq(child:lua("return #vim.api.nvim_list_wins()"), 2, "the help stays")
  child:cmd("only | Hashline list")
  child:cmd("only | Hashline next")
  t.eq(place(child), { "b.txt", 5 })
  t.eq(child:lua("return #vim.api.nvim_list_wins()"), 2, "the list stays")
end)

t.test("a file that cannot be gone to, as this one may not be left", function()
  local child = several_files()
  child:cmd("set nohidden")
  child:type("Gox<Esc>")
  child:cmd("Hashline next")
  t.eq(place(child), { "b.txt", 41 })
  t.ok(child:notified()[1]:find("hashline: E37: No write since last change", 1, true), child:notified()[1])
end)

t.test(
  "a file that is removed, or not made yet, is decided in the list: it is gone to there, and from there on",
  function()
    local child = several_files()
    local folder = vim.uri_from_fname(child.folder)
    local function push(name, what)
      child:push(
        "hashline/pendingEdits",
        list(folder .. "/" .. name, vim.NIL, { edit({ { file = what } }, { id = name }) })
      )
    end
    push("b2.txt", "make the file")
    push("b3.txt", "remove the file")
    child:cmd("Hashline next 4")
    t.eq({ child:lua("return vim.bo.buftype"), child:cursor()[1] }, { "quickfix", 5 })
    child:cmd("Hashline next")
    t.eq({ child:lua("return vim.bo.buftype"), child:cursor()[1] }, { "quickfix", 6 })
    child:cmd("Hashline accept")
    t.eq(decisions.said(child, 1)[1].edit, "b3.txt")
    child:cmd("Hashline next")
    t.eq(place(child), { "c.txt", 3 })
    t.eq(child:lua("return #vim.api.nvim_list_wins()"), 2, "in the window of files")
    child:cmd("wincmd p | 6 | only | Hashline prev 2")
    t.eq(place(child), { "b.txt", 40 })
  end
)
