--- What is told besides what is drawn: the status, events, the message of a new hunk.
local t = ...
local messages = require("messages")
local three = require("three_hunks")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = three.LINES

t.test("status: buffer variables and a User autocommand", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:cmd("autocmd User HashlineUpdate let g:updates = get(g:, 'updates', 0) + 1")
  child:push("hashline/pendingEdits", list(uri, 0, { edit(three.hunks()) }))
  local status = {
    pending = 3,
    conflicted = 1,
    held = 2,
    in_text = 0,
    agents = { "claude-code" },
    waiting = {},
    read_only = false,
  }
  t.eq(
    child:lua("return { vim.b.hashline_status, vim.b.hashline_status_dict, vim.g.updates }"),
    { "3 pending, 1 conflicted", status, 1 }
  )
  local everywhere =
    "return { vim.g.hashline_status, vim.g.hashline_status_dict.pending, vim.g.hashline_status_dict.files }"
  t.eq(child:lua(everywhere), { "3 pending in 1 file, 1 conflicted", 3, 1 })
  local other = edit({ { lines = at(0, 0), proposed = { "x" } } }, { id = "other" })
  child:push("hashline/pendingEdits", list(uri .. "2", vim.NIL, { other }))
  t.eq(child:lua(everywhere), { "4 pending in 2 files, 1 conflicted", 4, 2 })
  t.eq(child:lua("return vim.b.hashline_status"), "3 pending, 1 conflicted")
  child:push("hashline/pendingEdits", list(uri .. "2", vim.NIL, {}))
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  t.eq(child:lua("return { vim.b.hashline_status, vim.g.hashline_status_dict.pending }"), { "", 0 })
  t.eq(child:lua(everywhere), { "", 0, 0 })
end)

--- The manual's examples of a language that have these words, as one program.
local function examples(language, words)
  local page = table.concat(vim.fn.readfile(vim.fs.dirname(t.here) .. "/doc/hashline.txt"), "\n")
  local found = {}
  for code in page:gmatch(">" .. language .. "\n\n(.-)\n<") do
    for _, word in ipairs(words) do
      if code:find(word, 1, true) then
        found[#found + 1] = code
        break
      end
    end
  end
  t.eq(#found, #words, "as many examples")
  return table.concat(found, "\n")
end

--- Two hunks, of an agent whose name would be a program in a statusline.
local function pushed_by_a_programmer(child, uri)
  child:push("hashline/pendingEdits", list(uri, 0, { edit(three.hunks()) }))
  child:push("hashline/waiting", { agents = { "%{execute('let g:ran = 1')}" } })
end

local SHOWN = "3 pending in 1 file, 1 conflicted, %{execute('let g:ran = 1')} waits"

t.test(
  "the manual's examples for lualine and heirline: what they are given is what a statusline shows",
  function()
    for _, plugin in ipairs({ "lualine", "heirline" }) do
      local child = t.start(nil, { 16, 90 })
      local uri = child:open("a.txt", LINES)
      -- As they document it: lualine has functions in its sections and shows what they say when it is refreshed; heirline asks a
      -- component's `condition` and then its `provider` when the statusline is drawn. Neither escapes what it is given.
      child:lua([[
      package.preload.lualine = function()
        local sections
        return {
          setup = function(settings) sections = settings.sections end,
          refresh = function() vim.o.statusline = sections.lualine_x[1]() end,
        }
      end
      package.preload.heirline = function()
        return {
          setup = function(settings)
            function _G.drawn()
              return table.concat(vim.tbl_map(function(part)
                if part.condition and not part.condition() then return "" end
                return type(part.provider) == "function" and part.provider() or part.provider
              end, settings.statusline))
            end
            vim.o.statusline = "%{%v:lua.drawn()%}"
          end,
        }
      end
    ]])
      child:lua(examples("lua", { "local function hashline", ('require("%s").setup'):format(plugin) }))
      child:cmd("set laststatus=2")
      pushed_by_a_programmer(child, uri)
      t.ok(child:screen():find(SHOWN, 1, true), child:screen())
      child:push("hashline/waiting", { agents = {} })
      child:push("hashline/pendingEdits", list(uri, 0, {}))
      t.ok(not child:screen():find("pending", 1, true), child:screen())
      t.eq(child:lua("return vim.g.ran"), vim.NIL)
    end
  end
)

t.test("the manual's example for a statusline without a plugin", function()
  local child = t.start(nil, { 16, 90 })
  local uri = child:open("a.txt", LINES)
  child:cmd("set laststatus=2")
  child:cmd(vim.trim(examples("vim", { "set statusline" })))
  pushed_by_a_programmer(child, uri)
  t.ok(child:screen():find(SHOWN:sub(1, 30), 1, true), child:screen())
  t.eq(child:lua("return vim.g.ran"), vim.NIL)
end)

t.test("status: which agents wait for a decision", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:push("hashline/pendingEdits", list(uri, 0, { edit(three.hunks()) }))
  child:push("hashline/waiting", { agents = { "claude-code" } })
  local function status()
    return child:lua("return { vim.b.hashline_status, vim.g.hashline_status_dict.waiting }")
  end
  t.eq(status(), { "3 pending, 1 conflicted, claude-code waits", { "claude-code" } })
  child:push("hashline/waiting", { agents = { "claude-code", "codex" } })
  t.eq(status()[1], "3 pending, 1 conflicted, claude-code, codex wait")
  child:push("hashline/waiting", { agents = {} })
  t.eq(status(), { "3 pending, 1 conflicted", {} })
  -- As a rule the last decision comes before the end of the wait.
  child:push("hashline/waiting", { agents = { "claude-code" } })
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  t.eq(status(), { "", { "claude-code" } })
  child:cmd("autocmd User HashlineUpdate let g:updates = get(g:, 'updates', 0) + 1")
  child:push("hashline/waiting", { agents = {} })
  child:push("hashline/waiting", { agents = {} })
  t.eq(
    child:lua(
      "return { vim.b.hashline_status_dict.waiting, vim.g.hashline_status_dict.waiting, vim.g.updates }"
    ),
    { {}, {}, 1 }
  )
end)

t.test("status: nobody waits for a sidecar that has ended", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:push("hashline/pendingEdits", list(uri, 0, { edit(three.hunks()) }))
  child:push("hashline/waiting", { agents = { "claude-code" } })
  child:lua("vim.lsp.get_clients()[1]:notify('exit')")
  child:wait("#vim.lsp.get_clients() == 0 and #notified == 1")
  t.eq(
    child:lua(
      "return { vim.b.hashline_status, vim.b.hashline_status_dict.waiting, vim.g.hashline_status_dict.waiting }"
    ),
    { "", {}, {} }
  )
end)

t.test("User autocommands: offered, accepted, rejected", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:lua([[
    told = {}
    vim.api.nvim_create_autocmd("User", {
      pattern = { "HashlineOffered", "HashlineAccepted", "HashlineRejected" },
      callback = function(event)
        local numbers = vim.tbl_map(function(name) return tonumber(name:match(":(%d+)$")) end, event.data.hunks)
        table.insert(told, { event.match, numbers, event.data.buf, event.data.uri == vim.uri_from_bufnr(0) })
      end,
    })
  ]])
  local function told()
    return child:lua("local all = told; told = {}; return all")
  end
  local function push(hunks)
    child:push("hashline/pendingEdits", list(uri, 0, hunks and { edit(hunks) } or {}))
  end
  local hunks = three.hunks()
  push(hunks)
  t.eq(told(), { { "HashlineOffered", { 1, 2, 3 }, 1, true } })
  hunks[1].deciding = true
  push(hunks)
  t.eq(told(), {}, "under way is not yet done")
  hunks[1].deciding, hunks[1].decision, hunks[1].state = false, "accepted", "inText"
  hunks[2].decision = "rejected"
  push(hunks)
  t.eq(told(), { { "HashlineAccepted", { 1 }, 1, true }, { "HashlineRejected", { 2 }, 1, true } })
  hunks[1].deciding = true
  push(hunks)
  t.eq(told(), {}, "decided anew, nor is that done yet")
  hunks[1].deciding, hunks[1].decision, hunks[1].state = false, "rejected", "held"
  push(hunks)
  t.eq(told(), { { "HashlineRejected", { 1 }, 1, true } })
  hunks[1].deciding = true
  push(hunks)
  t.eq(told(), {}, "being reopened")
  hunks[1].deciding, hunks[1].decision = false, "undecided"
  push(hunks)
  t.eq(told(), { { "HashlineOffered", { 1 }, 1, true } }, "reopened, while its edit is listed")
  -- The last hunk takes its edit from the list: what became of it is what was said here.
  child:answer("hashline/decide", { queued = { messages.ID .. ":3", messages.ID .. ":1" }, refused = {} })
  child:cmd("40 | Hashline reject")
  t.wait(function()
    return #child:said("hashline/decide") == 1
  end, "it is said")
  push()
  t.eq(told(), { { "HashlineRejected", { 1, 3 }, 1, true } })
  push(three.hunks())
  t.eq(told(), { { "HashlineOffered", { 1, 2, 3 }, 1, true } })
  push()
  t.eq(told(), {}, "decided elsewhere: nothing is known of it")
  push(three.hunks())
  told()
  child:answer("hashline/decide", {
    queued = {},
    refused = { { hunk = messages.ID .. ":1", why = "gone", message = "it is gone", others = {} } },
  })
  child:cmd("5 | Hashline accept")
  child:wait("#notified == 1")
  push()
  t.eq(told(), {}, "refused is not accepted")
  push(three.hunks())
  told()
  child:cmd("5 | Hashline accept")
  t.wait(function()
    return #child:said("hashline/decide") == 3
  end, "it is said")
  child:lua("vim.lsp.get_clients()[1]:notify('exit')")
  child:wait("#vim.lsp.get_clients() == 0 and #notified == 2")
  t.eq(told(), {}, "nor is what a sidecar did not live to do")
end)

t.test(":Hashline status says what the sidecar says", function()
  local child = three.start(t)
  child:answer("hashline/status", {
    version = "1.2.3",
    roots = { "/project" },
    documents = 2,
    pending = 3,
    conflicted = 1,
    agents = { "claude-code", "codex" },
    socket = vim.NIL,
  })
  child:cmd("Hashline status")
  child:wait("#notified == 1")
  t.eq(
    child:notified()[1],
    table.concat({
      "hashline 1.2.3 · /project",
      "2 buffers · 3 hunks to review, 1 conflicted",
      "agents: claude-code, codex",
      "socket: none",
    }, "\n")
  )
end)

t.test(
  "one message where conversations are all that is known, for several files together, and none that waits for a key",
  function()
    local child = t.start({ notify = true })
    local uri = child:open("a.txt", LINES)
    child:push("hashline/pendingEdits", list(uri, 0, { edit(three.hunks()) }))
    child:push(
      "hashline/pendingEdits",
      list(
        uri .. "2",
        vim.NIL,
        { edit({ { proposed = { "x" } } }, { id = "b", conversation = "conv_2", agent = "codex" }) }
      )
    )
    child:wait("#notified == 1")
    child:push(
      "hashline/pendingEdits",
      list(uri, 0, { edit(three.hunks()), edit({ { lines = at(0, 0), proposed = { "y" } } }, { id = "c" }) })
    )
    -- The next message is that of another conversation: there was none between the two.
    child:push(
      "hashline/pendingEdits",
      list(
        uri .. "3",
        vim.NIL,
        { edit({ { proposed = { "x" } } }, { id = "d", conversation = "conv_3", agent = "gemini" }) }
      )
    )
    child:wait("#notified >= 2")
    t.eq(child:notified(), {
      "claude-code, codex: 3 hunks here, 1 in a.txt2. :Hashline review",
      "gemini: 1 hunk in a.txt3. :Hashline review",
    })
  end
)

t.test("one message a connection, though each call comes in a conversation of its own", function()
  local child = t.start({ notify = true })
  local uri = child:open("a.txt", LINES)
  local edits = {}
  local function call(number, agent, connection)
    edits[#edits + 1] = edit(
      { { lines = at(number, number), proposed = { "x" } } },
      { id = "edit" .. number, agent = agent, conversation = "conv_" .. number, connection = connection }
    )
    child:push("hashline/pendingEdits", list(uri, 0, edits))
  end
  call(1, "claude-code", "one")
  child:wait("#notified == 1")
  call(2, "claude-code", "one")
  call(3, "claude-code", "one")
  call(4, "codex", "two") -- whose message is the next one
  child:wait("#notified >= 2")
  t.eq(child:notified(), { "claude-code: 1 hunk here. :Hashline next", "codex: 1 hunk here. :Hashline next" })
end)

t.test("what happens in files that are not open is told each time, in one line", function()
  local child = t.start({ notify = true }, { 16, 90 })
  local uri = child:open("a.txt", LINES)
  local folder = vim.fs.dirname(uri)
  local function push(name, fields, more)
    local one = edit({ fields }, vim.tbl_extend("keep", more or {}, { id = name, connection = "one" }))
    child:push("hashline/pendingEdits", list(folder .. "/" .. name, vim.NIL, { one }))
  end
  child:push("hashline/pendingEdits", list(uri, 0, { edit(three.hunks(), { connection = "one" }) }))
  push("new.js", { file = "make the file", state = "inText" })
  push("old.js", { file = "remove the file", state = "inText" })
  child:wait("#notified == 1")
  push("mv.js", { file = "rename the file to " .. child.folder .. "/moved.js" })
  push("old.js", { file = "remove the file", state = "inText" }) -- told already
  push("later.js", { file = "remove the file" })
  push("b.js", { lines = at(0, 0), proposed = { "x" } })
  push("c.js", { lines = at(0, 0), proposed = { "x" } })
  child:wait("#notified == 2")
  for i = 1, 9 do
    push(("file number %d.js"):format(i), { file = "make the file", state = "inText" })
  end
  child:wait("#notified >= 3")
  local said = child:notified()
  t.eq(said, {
    "claude-code: 3 hunks here, new.js created, old.js deleted. :Hashline review",
    "claude-code: later.js to be deleted, mv.js → moved.js and 2 more. :Hashline review",
    "claude-code: file number 1.js created and 8 more. :Hashline review",
  })
  for _, line in ipairs(said) do
    t.ok(vim.fn.strdisplaywidth(line) <= child:lua("return vim.v.echospace"), line)
  end
end)

t.test("no message where the setting says so", function()
  local child = t.start({ notify = false })
  local uri = child:open("a.txt", LINES)
  child:lua([[
    deferred = 0
    vim.defer_fn = function() deferred = deferred + 1 end
  ]])
  local made = edit({ { file = "make the file", state = "inText" } }, { id = "new" })
  child:push("hashline/pendingEdits", list(uri .. "2", vim.NIL, { made }))
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ three.hunks()[1] }) }))
  t.eq({ child:lua("return deferred"), child:notified() }, { 0, {} })
end)

t.test("the message waits while a command is being typed", function()
  local child = t.start({ notify = true })
  local uri = child:open("a.txt", LINES)
  child:lua([[
    local defer = vim.defer_fn
    deferred = 0
    vim.defer_fn = function(...)
      deferred = deferred + 1
      return defer(...)
    end
  ]])
  child:type(":echo 1")
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ three.hunks()[1] }) }))
  child:wait("deferred >= 2") -- it was due, and was put off
  t.eq(child:notified(), {})
  child:type("<Esc>")
  child:wait("#notified == 1")
end)
