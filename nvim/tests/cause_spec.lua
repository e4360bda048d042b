--- hashline/cause: what brought a change about is said before the didChange that holds it and nothing else.
local t = ...

local LINES = { "one", "two", "three" }

--- The document's messages, in order: a cause as the word for it, a didChange as the text that it makes ("one two three"). Changes without
--- a cause that follow each other are one: how often Neovim sends what is typed is not what is looked at.
---@param with_answers boolean?
---@return string[]
local function told(child, with_answers)
  local out, version, cause, was_typing = {}, -1, nil, false
  local said = vim.tbl_filter(function(message)
    return with_answers or not message.answer_to
  end, child:said())
  for _, message in ipairs(said) do
    local params = message.params or {}
    local document = params.textDocument
    if cause then
      t.eq(message.method, "textDocument/didChange", "right behind the cause")
      t.eq({ document.uri, document.version }, { cause.uri, cause.version }, "the change that it names")
    end
    local is_typing = false
    if message.method == "hashline/cause" then
      local fields = vim.fn.sort(vim.tbl_keys(params))
      t.eq(fields, { "cause", "delivery", "uri", "version" })
      cause = params
      out[#out + 1] = cause.delivery == vim.NIL and cause.cause
        or ("%s %d"):format(cause.cause, cause.delivery)
    elseif message.method == "textDocument/didChange" then
      t.ok(document.version > version, "versions go up")
      is_typing = not cause
      out[#out + (is_typing and was_typing and 0 or 1)] = vim.trim(message.text:gsub("\n", " "))
      version, cause = document.version, nil
    elseif message.method == "textDocument/didOpen" then
      version = document.version
      out[#out + 1] = "open " .. vim.trim(document.text:gsub("\n", " "))
    elseif message.method == "textDocument/didClose" then
      out[#out + 1] = "close"
    elseif message.answer_to then
      out[#out + 1] = message.result.applied and "applied" or "not applied: " .. message.result.failureReason
    end
    was_typing = is_typing
  end
  t.eq(cause, nil, "a cause without its change")
  return out
end

--- Who else is told of the buffer by Neovim's LSP client: its listener is there before the plugin's or not, and sends at once or collects.
local COMPANY = {
  ["alone"] = {},
  ["beside a language server that came first"] = { first = true },
  ["beside one that came first, and has every change at once"] = { first = true, debounce = 0 },
  ["beside one that came later, and has every change at once"] = { later = true, debounce = 0 },
}

local function start(company)
  local child = t.start()
  child:lua(
    [[
      local binary, debounce = ...
      function bring_other(buf)
        vim.lsp.start({
          name = "other",
          cmd = { binary },
          root_dir = vim.fn.getcwd(),
          flags = { debounce_text_changes = debounce },
        }, { bufnr = buf })
      end
    ]],
    vim.fs.joinpath(t.here, "fake_sidecar"),
    company.debounce
  )
  if company.first then
    child:cmd("autocmd BufReadPost * lua bring_other(0)")
  end
  local uri = child:open("a.txt", LINES)
  if company.later then
    child:lua("bring_other(0)")
  end
  if company.first or company.later then
    child:wait("(vim.lsp.get_clients({ name = 'other' })[1] or {}).initialized")
  end
  return child, uri
end

--- What another language server has of a document, and whether it was told of a cause.
local function other_knows(child, uri)
  return child:lua(
    [[
      local client = vim.lsp.get_clients({ name = "other" })[1]
      local text = client:request_sync("fake/text", { uri = ... }, 30000).result.text
      local causes = client:request_sync("fake/said", { method = "hashline/cause" }, 30000).result
      return { text, causes }
    ]],
    uri
  )
end

--- What is done, and what is told of it.
local scenes = {
  ["typing, then a delivery, in insert mode"] = {
    function(child, uri)
      child:type("Aab")
      child:deliver(uri, child:version(), { { 1, 1, "new\n" }, { 2, 3, "THREE\n" } })
      child:type("c<Esc>")
    end,
    { "oneab two three", "delivery 1", "oneab new two THREE", "oneabc new two THREE" },
  },
  ["a delivery, and typing in the same moment"] = {
    function(child, uri)
      child:lua([[
        local delivery = require("hashline.delivery")
        local apply = delivery.apply
        delivery.apply = function(...)
          local answer = apply(...)
          vim.api.nvim_buf_set_text(1, 0, 0, 0, 0, { "now " })
          return answer
        end
      ]])
      child:deliver(uri, 1, { { 0, 1, "ONE\n" }, { 2, 3, "THREE\n" } })
    end,
    { "delivery 1", "ONE two THREE", "now ONE two THREE" },
  },
  ["two deliveries"] = {
    function(child, uri)
      child:deliver(uri, 1, { { 0, 1, "ONE\n" } })
      child:deliver(uri, child:version(), { { 1, 2, "TWO\n" } })
    end,
    { "delivery 1", "ONE two three", "delivery 2", "ONE TWO three" },
  },
  ["a delivery for a buffer that is not shown"] = {
    function(child, uri)
      child:cmd("set hidden | enew")
      child:deliver(uri, 1, { { 0, 1, "ONE\n" }, { 2, 3, "" } })
      child:cmd("buffer 1")
    end,
    { "delivery 1", "ONE two" },
  },
  ["a delivery that fails midway, then typing"] = {
    function(child, uri)
      child:lua([[
        local apply = vim.lsp.util.apply_text_edits
        vim.lsp.util.apply_text_edits = function(edits, ...)
          vim.lsp.util.apply_text_edits = apply
          apply({ edits[1] }, ...)
          error("no more")
        end
      ]])
      t.eq(child:deliver(uri, 1, { { 0, 1, "ONE\n" }, { 1, 2, "TWO\n" } }).applied, false)
      child:type("Ax<Esc>")
      child:deliver(uri, child:version(), { { 2, 3, "THREE\n" } })
    end,
    { "ONEx two three", "delivery 2", "ONEx two THREE" },
  },
  ["an undone delivery, done again"] = {
    function(child, uri)
      child:deliver(uri, 1, { { 0, 1, "ONE\n" }, { 2, 3, "THREE\n" } })
      child:type("u<C-r>")
    end,
    { "delivery 1", "ONE two THREE", "undo", "one two three", "redo", "ONE two THREE" },
  },
  ["an undo right after typing"] = {
    function(child)
      child:type("Aab<Esc>u")
    end,
    { "oneab two three", "undo", "one two three" },
  },
  ["an undo right after a change of several lines, and typing right after it"] = {
    function(child)
      child:type(":%s/e/EE/<CR>uGAx<Esc>")
    end,
    { "onEE two thrEEe", "undo", "one two three", "one two threex" },
  },
  ["changes, an undo and a change in one call"] = {
    function(child)
      child:lua([[
        vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { "a" })
        vim.api.nvim_buf_set_text(0, 1, 0, 1, 0, { "b" })
        vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { "c" })
        vim.cmd.undo()
        vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { "d" })
      ]])
    end,
    { "caone btwo three", "undo", "one two three", "done two three" },
  },
  ["three undos in one macro"] = {
    function(child)
      child:type("Ax<Esc>Ay<Esc>Az<Esc>qauuuq3<C-r>")
      child:type("@a")
    end,
    {
      "onexyz two three",
      "undo",
      "onexy two three",
      "undo",
      "onex two three",
      "undo",
      "one two three",
      "redo",
      "onex two three",
      "redo",
      "onexy two three",
      "redo",
      "onexyz two three",
      "undo",
      "onexy two three",
      "undo",
      "onex two three",
      "undo",
      "one two three",
    },
  },
  [":undo 0, and forth again by time"] = {
    function(child)
      child:type("Ax<Esc>yyp")
      child:type(":undo 0<CR>")
      child:type(":later 9m<CR>")
    end,
    {
      "onex onex two three",
      "undo",
      "onex two three",
      "undo",
      "one two three",
      "redo",
      "onex two three",
      "redo",
      "onex onex two three",
    },
  },
  ["g- into another branch"] = {
    function(child)
      child:type("Ax<Esc>uAy<Esc>")
      child:type("g-")
      child:type("g-")
    end,
    {
      "onex two three",
      "undo",
      "one two three",
      "oney two three",
      "undo",
      "one two three",
      "redo",
      "onex two three",
      "undo",
      "one two three",
    },
  },
  ["undos in insert mode"] = {
    function(child)
      child:type("A12")
      child:type("<C-o>u3<Cmd>undo<CR>4<Esc>")
    end,
    {
      "one12 two three",
      "undo",
      "one two three",
      "one3 two three",
      "undo",
      "one two three",
      "one4 two three",
    },
  },
  [":silent! undo"] = {
    function(child)
      child:cmd("let v:errmsg = 'of another command'")
      child:type("x:silent! undo<CR>")
      t.eq(child:lua("return vim.v.errmsg"), "of another command")
    end,
    { "ne two three", "undo", "one two three" },
  },
  ["an undo in a buffer that is not shown, and a change of it from outside"] = {
    function(child)
      child:type("x")
      child:cmd("set hidden | enew")
      child:lua([[
        vim.api.nvim_buf_call(1, vim.cmd.undo)
        vim.api.nvim_buf_set_text(1, 0, 0, 0, 0, { "z" })
      ]])
      child:cmd("buffer 1")
    end,
    { "ne two three", "undo", "one two three", "zone two three" },
  },
  ["a change that Neovim does not send: nothing is said until both agree again"] = {
    function(child, uri)
      child:type("x")
      child:lua("require('hashline.cause').changed(1, 1)")
      child:type("u")
      child:has_told(uri, "one\ntwo\nthree\n")
      child:type("<C-r>")
    end,
    { "one two three", "redo", "ne two three" },
  },
  ["typing of all kinds"] = {
    function(child)
      child:type("yypAhello<Esc>ddP:s/o/0/<CR>")
    end,
    { "one 0nehello two three" },
  },
}

for company, circumstances in vim.spairs(COMPANY) do
  for name, scene in vim.spairs(scenes) do
    t.test(("%s, %s"):format(name, company), function()
      local act, expected = unpack(scene)
      local child, uri = start(circumstances)
      act(child, uri)
      local text = table.concat(child:lines(), "\n") .. "\n"
      child:has_told(uri, text)
      t.eq(told(child), vim.list_extend({ "open one two three" }, expected))
      if circumstances.first or circumstances.later then
        t.eq(other_knows(child, uri), { text, "[]" }, "the other language server")
      end
    end)
  end
end

t.test("a delivery is answered after its change was sent, and a refused one after what refuses it", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:deliver(uri, 1, { { 0, 1, "ONE\n" }, { 2, 3, "THREE\n" } })
  -- The sidecar knows nothing of the "x" when it asks.
  child:lua(
    [[
      vim.lsp.get_clients({ name = "hashline" })[1]:request("fake/ask", ..., function(_, answer) refused = answer end)
      vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { "x" })
    ]],
    child:wish(uri, child:version(), { { 1, 2, "TWO\n" } })
  )
  child:wait("refused")
  local all = told(child, true)
  t.ok(all[#all]:find("^not applied: made for version"), all[#all])
  all[#all] = nil
  t.eq(all, { "open one two three", "delivery 1", "ONE two THREE", "applied", "xONE two THREE" })
end)

t.test("a delivery that fails midway is answered so after what it did was sent", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:lua([[
    local apply = vim.lsp.util.apply_text_edits
    vim.lsp.util.apply_text_edits = function(edits, ...)
      apply({ edits[1] }, ...)
      error("no more", 0)
    end
  ]])
  child:deliver(uri, 1, { { 0, 1, "ONE\n" }, { 1, 2, "TWO\n" } })
  t.eq(told(child, true), { "open one two three", "ONE two three", "not applied: no more" })
end)

t.test("an undo that Neovim does not bring to its end is sent all the same", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:deliver(uri, 1, { { 0, 1, "ONE\n" }, { 2, 3, "THREE\n" } })
  child:lua("require('hashline.cause').undone = function() end")
  child:type("u")
  child:has_told(uri, "one\ntwo\nthree\n")
  t.eq(told(child), { "open one two three", "delivery 1", "ONE two THREE", "undo", "one two three" })
end)

t.test("a jump over more changes than are sought in the undo tree", function()
  local child = t.start()
  child:open("a.txt", { "" })
  child:type(("Ax<Esc>"):rep(30))
  child:type("30u")
  child:type("30<C-r>")
  local causes = vim.tbl_map(function(message)
    return message.params.cause
  end, child:said("hashline/cause"))
  t.eq(#causes, 60)
  t.eq(causes, vim.list_extend(vim.fn["repeat"]({ "undo" }, 30), vim.fn["repeat"]({ "redo" }, 30)))
end)

t.test("a reload is a document that is closed and opened, and so ends the undo of one", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  local path = vim.uri_to_fname(uri)
  child:type("Ax<Esc>")
  child:cmd("edit!") -- the buffer is unloaded for it
  child:has_told(uri, "one\ntwo\nthree\n")
  t.eq(told(child), { "open one two three", "onex two three", "close", "open one two three" })
  child:type("u")
  child:has_told(uri, "onex\ntwo\nthree\n")
  local opened = { "undo", "onex two three", "close", "open onex two three" }
  t.eq(vim.list_slice(told(child), 5), opened)
  child:cmd("silent write | set autoread")
  vim.fn.writefile({ "another", "text" }, path)
  -- Neovim looks at the time of the file, which has to be another one.
  vim.uv.fs_utime(path, os.time() + 10, os.time() + 10)
  child:cmd("checktime") -- the buffer stays
  child:has_told(uri, "another\ntext\n")
  t.eq(vim.list_slice(told(child), 9), { "close", "open another text" })
  child:type("Ay<Esc>")
  child:type("u")
  child:has_told(uri, "another\ntext\n")
  t.eq(vim.list_slice(told(child), 11), { "anothery text", "undo", "another text" })
end)

t.test("a sidecar that is started anew is told, and a buffer under another name", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:type("x")
  local before = child:lua("return vim.lsp.get_clients()[1].id")
  child:cmd("Hashline restart")
  child:wait("(vim.lsp.get_clients()[1] or { id = ... }).id ~= ...", before)
  child:wait_for_sidecar()
  child:has_told(uri, "ne\ntwo\nthree\n")
  child:type("u")
  child:has_told(uri, "one\ntwo\nthree\n")
  t.eq(told(child), { "open ne two three", "undo", "one two three" })
  child:cmd("file b.txt")
  local other = vim.uri_from_fname(vim.fs.joinpath(child.folder, "b.txt"))
  child:has_told(other, "one\ntwo\nthree\n")
  child:type("<C-r>")
  child:has_told(other, "ne\ntwo\nthree\n")
  t.eq(vim.list_slice(told(child), 4), { "close", "open one two three", "redo", "ne two three" })
end)

t.test("telling typing from undo takes no time, however many changes there are to undo", function()
  local child = t.start()
  child:open("a.txt", LINES)
  local took = child:lua([[
    vim.bo.undolevels = 5000
    for _ = 1, 3000 do
      vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { "x" })
      vim.bo.undolevels = vim.bo.undolevels -- a step of its own
    end
    local undo, most = require("hashline.undo_detection"), 0
    vim.api.nvim_buf_attach(0, false, {
      on_lines = function()
        local started = vim.uv.hrtime()
        for _ = 1, 100 do
          assert(undo.under_way(1) == nil)
        end
        most = math.max(most, (vim.uv.hrtime() - started) / 1e6 / 100)
      end,
    })
    vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { "y" })
    return { most, #vim.fn.undotree().entries }
  ]])
  t.ok(took[2] > 3000, "the changes can be undone")
  t.ok(took[1] < 0.1, ("it takes %.3f ms"):format(took[1]))
end)
