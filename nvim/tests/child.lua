--- A Neovim of its own, driven over RPC as a person would drive it.
local messages = require("messages")
local patience = require("patience")

local M = {}

local here = vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))
local plugin = vim.fs.dirname(here)

--- Colours by which a screen's cells tell which group drew them.
local COLOURS = {
  A = { "HashlineAdded", { bg = "#003300" } },
  a = { "HashlineAddedWord", { bg = "#006600" } },
  R = { "HashlineRemoved", { bg = "#330000" } },
  r = { "HashlineRemovedWord", { bg = "#660000" } },
  C = { "HashlineConflict", { bg = "#333300" } },
  h = { "HashlineHeader", { fg = "#999901" } },
  H = { "HashlineHeaderConflict", { fg = "#ff9902" } },
  t = { "HashlineHint", { fg = "#666603" } },
  ["+"] = { "HashlineSignAdded", { fg = "#00ff04" } },
  ["-"] = { "HashlineSignRemoved", { fg = "#ff0005" } },
  ["_"] = { "HashlineSignPlace", { fg = "#0000f6" } },
  ["!"] = { "HashlineSignConflict", { fg = "#ff9907" } },
}

local LONGEST_MS = 4 * patience.LONGEST_MS -- of one test
local running = {}

---@class Child
local Child = {}
Child.__index = Child

---@param settings table? of the plugin; its binary is the fake sidecar unless one is named
---@param size { [1]: integer, [2]: integer }? lines and columns
---@param more { plugin: boolean?, longest_ms: integer? }? without the plugin; how long a test may take
---@return Child
function M.start(settings, size, more)
  local lines, columns = unpack(size or { 16, 72 })
  more = more or {}
  local command = { vim.env.NVIM_BINARY, "--embed", "--headless", "--clean", "-n", "-i", "NONE" }
  local look = "lines=%d columns=%d laststatus=0 noruler noshowcmd noshowmode noswapfile shortmess+=I"
  vim.list_extend(command, { "--cmd", "set " .. look:format(lines, columns) })
  if more.plugin ~= false then
    vim.list_extend(command, { "--cmd", "set runtimepath^=" .. vim.fn.fnameescape(plugin) })
  end
  vim.list_extend(command, { "--cmd", "set termguicolors | filetype off | syntax off" })
  local chan = vim.fn.jobstart(command, { rpc = true })
  assert(chan > 0, "Neovim does not start")
  -- One that waits for a key answers nothing: a test that hangs is ended from outside.
  local pid, watchdog = vim.fn.jobpid(chan), vim.uv.new_timer()
  watchdog:start(more.longest_ms or LONGEST_MS, 0, function()
    vim.uv.kill(pid, "sigkill")
  end)
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  local child = setmetatable(
    { chan = chan, watchdog = watchdog, folder = vim.uv.fs_realpath(folder), deliveries = 0 },
    Child
  )
  running[#running + 1] = child
  settings = vim.tbl_extend(
    "keep",
    settings or {},
    { binary = vim.fs.joinpath(here, "fake_sidecar"), notify = false, keys = false }
  )
  child:lua("vim.g.hashline = ...; vim.fn.chdir(select(2, ...)); notified = {}", settings, child.folder)
  child:lua("vim.notify = function(message, level) table.insert(notified, message) end")
  child:lua([[
    local echo = vim.api.nvim_echo
    echoed = {}
    vim.api.nvim_echo = function(chunks, ...)
      table.insert(echoed, chunks[1][1])
      return echo(chunks, ...)
    end
  ]])
  return child
end

function M.stop_all()
  for _, child in ipairs(running) do
    child.watchdog:close()
    vim.fn.jobstop(child.chan)
  end
  vim.fn.jobwait(
    vim.tbl_map(function(child)
      return child.chan
    end, running),
    patience.LONGEST_MS
  )
  running = {}
end

function Child:lua(code, ...)
  return vim.rpcrequest(self.chan, "nvim_exec_lua", code, { ... })
end

function Child:cmd(command)
  return vim.rpcrequest(self.chan, "nvim_command", command)
end

--- Types keys, and waits until they are taken in.
function Child:type(keys)
  vim.rpcrequest(self.chan, "nvim_input", keys)
  -- The next request is answered after the keys that came before it, but for those that wait for more.
  for _ = 1, 3 do
    vim.rpcrequest(self.chan, "nvim_get_mode")
    vim.wait(5, function()
      return false
    end)
  end
end

--- Waits until a Lua expression is true.
function Child:wait(expression, ...)
  local arguments = { ... }
  return patience.wait(function()
    return self:lua("return " .. expression, unpack(arguments))
  end, function()
    return ("%s\n%s"):format(expression, self:screen())
  end)
end

--- Waits until the sidecar of the buffer has started.
function Child:wait_for_sidecar()
  self:wait("(vim.lsp.get_clients({ name = 'hashline', bufnr = 0 })[1] or {}).initialized")
end

--- Opens a new file with these lines and waits for its sidecar.
---@return string uri
function Child:open(name, lines, mode)
  local path = vim.fs.joinpath(self.folder, name)
  vim.fn.mkdir(vim.fs.dirname(path), "p")
  vim.fn.writefile(lines, path, mode or "")
  self:cmd("edit " .. vim.fn.fnameescape(path))
  self:wait_for_sidecar()
  local uri = vim.uri_from_fname(path)
  patience.wait(function()
    return self:mirror(uri)
  end, "the sidecar has " .. uri)
  return uri
end

--- Waits until what is due at the end of this turn of the event loop has happened.
function Child:settle()
  self:lua(
    [[
    local over = false
    vim.schedule(function() over = true end)
    assert(vim.wait(..., function() return over end, 1), "what was scheduled never happens")
  ]],
    patience.LONGEST_MS
  )
end

function Child:lines()
  return vim.rpcrequest(self.chan, "nvim_buf_get_lines", 0, 0, -1, true)
end

function Child:cursor()
  return vim.rpcrequest(self.chan, "nvim_win_get_cursor", 0)
end

--- Asks the fake sidecar something, by way of the plugin's own client.
function Child:fake(method, params)
  return self:lua(
    [[
      local method, params, longest_ms = ...
      local client = vim.lsp.get_clients({ name = "hashline", bufnr = 0 })[1]
        or assert(vim.lsp.get_clients({ name = "hashline" })[1], "no client")
      local answer
      client:request("fake/" .. method, params, function(failure, result)
        answer = { failure = failure, result = result }
      end)
      vim.wait(longest_ms, function() return answer ~= nil end, 5)
      assert(answer, "the fake sidecar does not answer")
      return answer.result
    ]],
    method,
    params or vim.empty_dict(),
    patience.LONGEST_MS
  )
end

--- The sidecar says something.
function Child:push(method, params)
  self:lua(
    [[vim.lsp.get_clients({ name = "hashline" })[1]:notify("fake/push", { method = ..., params = select(2, ...) })]],
    method,
    params
  )
  self:fake("said", { method = "nothing" }) -- answered after what was pushed
end

--- The sidecar's next answer to a request.
function Child:answer(method, result)
  self:lua(
    [[vim.lsp.get_clients({ name = "hashline" })[1]:notify("fake/answer", { method = ..., result = select(2, ...) })]],
    method,
    result
  )
end

--- The sidecar's next answer to a request is that it cannot.
function Child:refuse(method, failure)
  self:lua(
    [[vim.lsp.get_clients({ name = "hashline" })[1]:notify("fake/answer", { method = ..., error = select(2, ...) })]],
    method,
    failure
  )
end

--- The sidecar's next answer to such a request comes when this is called again.
function Child:hold(method)
  self:lua([[vim.lsp.get_clients({ name = "hashline" })[1]:notify("fake/hold", { method = ... })]], method)
end

--- The sidecar's wish to apply edits to a document: its next delivery.
function Child:wish(uri, version, edits, label)
  local change = messages.change(uri, version, edits)
  self.deliveries = self.deliveries + 1
  return {
    method = "workspace/applyEdit",
    params = {
      label = label or "Edits of claude-code",
      edit = { documentChanges = { change } },
      delivery = self.deliveries,
    },
  }
end

--- The sidecar asks the editor to apply edits, and has the answer.
---@param label string? what they are; edits of an agent that go in at once unless told
function Child:deliver(uri, version, edits, label)
  return self:fake("ask", self:wish(uri, version, edits, label)).result
end

--- The sidecar asks for a file operation of LSP, for a version of the document.
---@return table answer
function Child:operate(uri, version, operation)
  local guard = { textDocument = { uri = uri, version = version }, edits = {} }
  local params = { label = "Accept 3f2a9c1b:1", edit = { documentChanges = { guard, operation } } }
  return self:fake("ask", { method = "workspace/applyEdit", params = params }).result
end

--- The same without waiting: the answer is `delivered` when it comes.
function Child:begin_delivery(uri, version, edits)
  self:lua(
    [[
      delivered = nil
      vim.lsp.get_clients({ name = "hashline" })[1]:request("fake/ask", ..., function(_, answer)
        delivered = answer.result
      end)
    ]],
    self:wish(uri, version, edits)
  )
  self:fake("said", { method = "nothing" }) -- answered after it was asked
end

--- What the plugin said to the sidecar, null fields as vim.NIL.
function Child:said(method)
  local said = vim.json.decode(self:fake("said", { method = method }))
  return vim.tbl_isempty(said) and {} or said
end

--- Text and version of a document as the sidecar has it.
function Child:mirror(uri)
  return self:fake("text", { uri = uri })
end

--- Waits until the sidecar was told just this text of a document.
function Child:has_told(uri, text)
  local mirror
  patience.wait(function()
    mirror = self:mirror(uri)
    return mirror ~= vim.NIL and mirror.text == text
  end, function()
    return ("%s has %s, and not %s"):format(uri, vim.inspect(text), vim.inspect(mirror))
  end)
end

--- Waits until the sidecar was told all that was typed.
function Child:has_told_all(uri)
  patience.wait(function()
    return self:mirror(uri).version == self:version()
  end, "all is sent")
end

function Child:version()
  return self:lua("return vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]")
end

function Child:notified()
  return self:lua("return notified")
end

--- What was said without being kept.
---@return string[]
function Child:echoed()
  return self:lua("local all = echoed; echoed = {}; return all")
end

--- The screen's text, and below it which of the plugin's groups drew each cell.
function Child:screen()
  self:cmd("redraw") -- what is drawn may be mended after the first sight of it
  self:lua("vim.wait(1)")
  local colours = {}
  for letter, colour in pairs(COLOURS) do
    colours[letter] = colour
  end
  local grids = self:lua(
    [[
      local colours = ...
      local letters = {}
      for letter, colour in pairs(colours) do
        vim.api.nvim_set_hl(0, colour[1], colour[2])
        local kind = colour[2].bg and "background" or "foreground"
        letters[kind .. tonumber((colour[2].bg or colour[2].fg):sub(2), 16)] = letter
      end
      vim.api.nvim__inspect_cell(1, 0, 0) -- its first call renumbers the colours of the screen
      vim.cmd("redraw!")
      local text, groups = {}, {}
      for row = 0, vim.o.lines - 1 do
        local line, marks = {}, {}
        for column = 0, vim.o.columns - 1 do
          local cell = vim.api.nvim__inspect_cell(1, row, column)
          local attributes = cell[2] or {}
          line[#line + 1] = cell[1]
          local letter = letters["background" .. (attributes.background or "")]
            or letters["foreground" .. (attributes.foreground or "")]
            or "."
          if cell[1] ~= "" then
            marks[#marks + 1] = letter
          end
        end
        text[#text + 1] = (table.concat(line):gsub("%s+$", ""))
        groups[#groups + 1] = (table.concat(marks):gsub("%.+$", ""))
      end
      return { text, groups }
    ]],
    colours
  )
  local out = vim.list_extend({}, grids[1])
  out[#out + 1] = ("="):rep(20)
  vim.list_extend(out, grids[2])
  while out[#out] == "" do
    out[#out] = nil
  end
  return table.concat(out, "\n")
end

return M
