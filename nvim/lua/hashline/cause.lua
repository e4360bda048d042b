--- Says what brought a change about, where it was not typing, and keeps the didChange of such a change apart.
---
--- Neovim's LSP client collects what it saw of a buffer and sends it as one didChange: after 150 ms, at once when that long nothing was
--- sent, and before any other message. Its listener may see a change before this plugin's does (where another language server came first),
--- and an undo, as a delivery, may be several changes. So each change is noted as it is reported, with the *step* that it is part of, and
--- each didChange passes through here on its way out: it has one entry for each change that was reported, so it can be cut between two
--- steps, and what is part of a step waits until that is over.
local tracking = require("hashline.tracking")
local undo_detection = require("hashline.undo_detection")

local M = {}

--- A delivery, an undo or a redo.
---@class hashline.Step
---@field cause "delivery"|"undo"|"redo"|nil none: it failed midway
---@field delivery integer? its number

---@class hashline.Report
---@field version integer that the change made
---@field step hashline.Step? none: it was typing

--- What is sent as one didChange.
---@class hashline.Letter
---@field step hashline.Step?
---@field version integer
---@field changes table[] as in `contentChanges`

---@class hashline.Outbox of a document, while it is open
---@field client vim.lsp.Client
---@field buf integer
---@field uri string
---@field reports hashline.Report[] the changes that Neovim has yet to send
---@field step hashline.Step? under way
---@field waiting hashline.Letter? changes of `step` that Neovim has sent
---@field ahead integer? the version of a change that Neovim has sent before this plugin's listener saw it
---@field send fun(method: string, params: table): boolean

local boxes = {} ---@type table<integer, hashline.Outbox> by buffer

---@param box hashline.Outbox
---@param letter hashline.Letter
local function post(box, letter)
  local step = letter.step
  if step and step.cause then
    box.send("hashline/cause", {
      uri = box.uri,
      version = letter.version,
      cause = step.cause,
      delivery = step.delivery or vim.NIL,
    })
  end
  box.send("textDocument/didChange", {
    textDocument = { uri = box.uri, version = letter.version },
    contentChanges = letter.changes,
  })
end

---@param box hashline.Outbox
local function post_waiting(box)
  local letter = box.waiting
  if letter then
    box.waiting = nil
    post(box, letter)
  end
end

--- All changes of the step under way were reported: they are sent, and before them what was typed before.
---@param box hashline.Outbox
local function finish(box)
  box.step = nil
  tracking.flush(box.client, box.buf)
  post_waiting(box)
end

--- Notes the change that is being reported.
---@param box hashline.Outbox
---@param version integer
local function note(box, version)
  local kind = not box.step and undo_detection.under_way(box.buf)
  if kind then
    local step = { cause = kind } ---@type hashline.Step
    box.step = step
    -- One that fails midway ends without a word.
    vim.schedule(function()
      if box.step == step then
        finish(box)
      end
    end)
  end
  table.insert(box.reports, { version = version, step = box.step })
end

--- The reports of what Neovim sends.
---@param box hashline.Outbox
---@param count integer
---@param version integer
---@return hashline.Report[]? reports none: other changes are known here than are sent, so nothing is said of them
local function take(box, count, version)
  if #box.reports == count - 1 then
    note(box, version)
    box.ahead = version
  end
  local taken = vim.list_slice(box.reports, 1, count)
  local last = taken[count]
  if not last or last.version ~= version then
    box.reports, box.ahead = {}, version
    return nil
  end
  box.reports = vim.list_slice(box.reports, count + 1)
  return taken
end

--- Puts what Neovim sends into letters, each of one step or of what was typed between two.
---@param box hashline.Outbox
---@param params table of didChange
local function sort(box, params)
  local changes, version = params.contentChanges, params.textDocument.version
  local reports = take(box, #changes, version)
  if not reports then
    post_waiting(box)
    return post(box, { version = version, changes = changes })
  end
  local letter = box.waiting
  for at, report in ipairs(reports) do
    if not letter or letter.step ~= report.step then
      if letter then
        post(box, letter)
      end
      letter = { step = report.step, version = report.version, changes = {} }
    end
    letter.version = report.version
    table.insert(letter.changes, changes[at])
  end
  box.waiting = letter
  if not (letter and letter.step and letter.step == box.step) then
    post_waiting(box)
  end
end

--- Lets all that a client sends pass through here.
---@param client vim.lsp.Client
function M.listen(client)
  local rpc = client.rpc
  local send = rpc.notify --[[@as fun(method: string, params: table): boolean]]
  local documents = {} ---@type table<string, hashline.Outbox> by URI

  ---@param method string
  ---@param params table
  ---@return boolean
  rpc.notify = function(method, params)
    local uri = vim.tbl_get(params or {}, "textDocument", "uri") ---@type string
    local box = documents[uri]
    if method == "textDocument/didChange" and box then
      sort(box, params)
      return not rpc.is_closing()
    elseif method == "textDocument/didOpen" then
      local buf = vim.uri_to_bufnr(uri)
      documents[uri] = { client = client, buf = buf, uri = uri, reports = {}, send = send }
      boxes[buf] = documents[uri]
    elseif method == "textDocument/didClose" and box then
      -- The undo of a reload ends with one. (All its changes were reported then.)
      box.step = nil
      post_waiting(box)
      documents[uri] = nil
      if boxes[box.buf] == box then
        boxes[box.buf] = nil
      end
    end
    return send(method, params)
  end
end

--- Notes a change. To be called from on_lines.
---@param buf integer
---@param version integer
function M.changed(buf, version)
  local box = boxes[buf]
  if not box then
    return
  end
  local is_noted = box.ahead == version
  box.ahead = nil
  if not is_noted then
    note(box, version)
  end
end

--- An undo or a redo of one change is over. To be called from on_changedtick: that is when Neovim reports it (0.11.4 and 0.12.4), after
--- each of several in one command.
---@param buf integer
function M.undone(buf)
  local box = boxes[buf]
  if box and box.step then
    finish(box)
  end
end

--- Does what changes a buffer for a delivery. What was changed is sent when this returns.
---@param buf integer
---@param delivery integer? its number; none: as typing
---@param change fun()
---@return boolean ok
---@return any failure
function M.delivering(buf, delivery, change)
  local box = boxes[buf]
  local step = { cause = delivery and "delivery", delivery = delivery } ---@type hashline.Step
  if box then
    box.step = step
  end
  local ok, failure = pcall(change)
  if not ok then
    step.cause = nil -- it is not what the sidecar asked for
  end
  if box then
    finish(box)
  end
  return ok, failure
end

--- The sidecar ended.
---@param client_id integer
function M.forget(client_id)
  for buf, box in pairs(boxes) do
    if box.client.id == client_id then
      boxes[buf] = nil
    end
  end
end

return M
