--- Applies the sidecar's workspace/applyEdit: exactly, as one undo step, or not at all.
---
--- Neovim's own handler answers `applied = true` for an edit that it dropped, checks only the first
--- document of several, accepts versions that it has not reached, and joins an edit that arrives in
--- insert mode with the whole insertion. Here each of these is refused or put right. Assigning
--- 'undolevels' to itself closes the undo block, in insert mode, too (measured in 0.11.4 and 0.12.4:
--- typing before, edit and typing after are three steps).
local cause = require("hashline.cause")
local file_operation = require("hashline.file_operation")
local state = require("hashline.state")
local tracking = require("hashline.tracking")

local M = {}

--- How long the end of a command that is being typed is waited for, in milliseconds: less than the sidecar waits for an answer.
local COMMAND_MS = 1500

---@param buf integer
---@return boolean
local function in_command(buf)
  return buf == vim.api.nvim_get_current_buf() and vim.startswith(vim.api.nvim_get_mode().mode, "no")
end

---@param edit lsp.WorkspaceEdit
---@return boolean
local function meets_command(edit)
  local uris = vim.tbl_keys(edit.changes or {})
  for _, change in ipairs(edit.documentChanges or {}) do
    uris[#uris + 1] = change.textDocument and change.textDocument.uri or change.oldUri or change.uri
  end
  for _, uri in ipairs(uris) do
    local buf = state.buffer_of_uri(uri)
    if buf and in_command(buf) then
      return true
    end
  end
  return false
end

--- Lets the person end a command (an operator without its motion), if the edit is for the buffer that it is typed in. Neovim calls
--- the handler of a request in a coroutine and sends the answer when that ends.
---@param edit lsp.WorkspaceEdit
local function let_command_end(edit)
  local co = coroutine.running()
  local deadline = vim.uv.hrtime() / 1e6 + COMMAND_MS
  while co and meets_command(edit) do
    local left = math.ceil(deadline - vim.uv.hrtime() / 1e6)
    if left <= 0 then
      return
    end
    local autocmd ---@type integer
    local timer = assert(vim.uv.new_timer())
    local function go_on()
      if timer:is_closing() then
        return -- it was both
      end
      timer:close()
      vim.api.nvim_del_autocmd(autocmd)
      local ok, failure = coroutine.resume(co)
      if not ok then
        error(failure, 0)
      end
    end
    autocmd = vim.api.nvim_create_autocmd("ModeChanged", {
      pattern = "no*:*",
      callback = vim.schedule_wrap(go_on),
    })
    timer:start(left, 0, vim.schedule_wrap(go_on))
    coroutine.yield() ---@diagnostic disable-line: await-in-sync
  end
end

---@param buf integer
local function close_undo_block(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---@param a lsp.Position
---@param b lsp.Position
local function before(a, b)
  return a.line < b.line or (a.line == b.line and a.character < b.character)
end

---@param edits lsp.TextEdit[]
---@param line_count integer
---@return string? reason
local function unfit(edits, line_count)
  local ranges = vim.tbl_map(function(edit)
    return edit.range
  end, edits)
  table.sort(ranges, function(a, b)
    return before(a.start, b.start)
  end)
  for i, range in ipairs(ranges) do
    if before(range["end"], range.start) or range["end"].line > line_count then
      return "a range lies outside the text"
    end
    if i > 1 and before(range.start, ranges[i - 1]["end"]) then
      return "two edits overlap"
    end
  end
end

---@class hashline.Parcel
---@field buf integer
---@field edits lsp.TextEdit[]

---@param client vim.lsp.Client
---@param uri string
---@param version integer?
---@param edits lsp.TextEdit[]
---@return hashline.Parcel?
---@return string? reason
local function parcel(client, uri, version, edits)
  local buf = state.buffer_of_uri(uri)
  if not buf or not vim.api.nvim_buf_is_loaded(buf) then
    return nil, uri .. " is not open here"
  end
  if not vim.bo[buf].modifiable then
    return nil, uri .. " is not modifiable"
  end
  if in_command(buf) then
    -- The operator begins where the cursor was when its key was pressed: other lines would be there. It is asked again.
    return nil, "the person is in the middle of a command"
  end
  if version and version ~= vim.NIL then
    local current = state.buffer_version(buf)
    -- A document is opened as version 0, which servers write as 1: the first change makes it 3 or more.
    if version ~= current and not (current == 0 and version == 1) then
      tracking.flush(client, buf) -- it can be made anew for the text as it is
      return nil, ("made for version %d of %s, which is at version %d"):format(version, uri, current)
    end
  end
  local reason = unfit(edits, vim.api.nvim_buf_line_count(buf))
  if reason then
    return nil, reason
  end
  return { buf = buf, edits = edits }
end

--- Marks a position so that it can be found again after the edits. One inside replaced lines stays as far
--- below their beginning as it was.
---@param buf integer
---@param ns integer
---@param edits lsp.TextEdit[]
---@param row integer 0-based
---@param col integer
---@return fun(): integer, integer row and column afterwards
local function remember(buf, ns, edits, row, col)
  for _, edit in ipairs(edits) do
    local from, to = edit.range.start, edit.range["end"]
    if from.line <= row and (row < to.line or (row == to.line and to.character > 0)) then
      local mark = vim.api.nvim_buf_set_extmark(buf, ns, from.line, 0, { right_gravity = false })
      local _, made = edit.newText:gsub("\n", "")
      local below = math.max(math.min(row - from.line, made - (to.character == 0 and 1 or 0)), 0)
      return function()
        return vim.api.nvim_buf_get_extmark_by_id(buf, ns, mark, {})[1] + below, col
      end
    end
  end
  local mark = vim.api.nvim_buf_set_extmark(buf, ns, row, 0, {})
  return function()
    return vim.api.nvim_buf_get_extmark_by_id(buf, ns, mark, {})[1], col
  end
end

--- Marks where the person's selection begins, if there is one in the buffer. Its end is the cursor.
---@param buf integer
---@param ns integer
---@param edits lsp.TextEdit[]
---@return fun()? restore
local function remember_selection(buf, ns, edits)
  local mode = vim.fn.mode()
  if vim.api.nvim_get_current_buf() ~= buf or not mode:find("^[vVsS\22\19]") then
    return nil
  end
  local _, row, col, off = unpack(vim.fn.getpos("v"))
  local start = remember(buf, ns, edits, row - 1, col)
  -- Typed in Select mode, it would replace what is selected.
  local to_visual = mode:find("^[sS\19]") and vim.keycode("<C-g>") or ""
  return function()
    local new_row = start() + 1
    local now = vim.fn.getpos("v")
    if now[2] == new_row and now[3] == col then
      return -- Neovim 0.12 moves it by itself, but for a block
    end
    local view = vim.fn.winsaveview()
    vim.cmd.normal({ to_visual .. "o", bang = true })
    vim.fn.cursor({ new_row, col, off })
    vim.cmd.normal({ "o" .. to_visual, bang = true })
    vim.fn.winrestview(view)
  end
end

--- Marks where each window's cursor and text are, and what is selected.
---@param buf integer
---@param edits lsp.TextEdit[]
---@return fun() restore
local function remember_view(buf, edits)
  local ns = vim.api.nvim_create_namespace("hashline.delivery")
  local windows = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
    windows[#windows + 1] = {
      win = win,
      view = view,
      top = remember(buf, ns, edits, math.floor(view.topline) - 1, 0),
      cursor = remember(buf, ns, edits, math.floor(view.lnum) - 1, math.floor(view.col)),
    }
  end
  local restore_selection = remember_selection(buf, ns, edits)
  return function()
    for _, saved in ipairs(windows) do
      if vim.api.nvim_win_is_valid(saved.win) then
        local view = saved.view
        view.topline = saved.top() + 1
        view.lnum, view.col = saved.cursor()
        view.lnum = view.lnum + 1
        vim.api.nvim_win_call(saved.win, function()
          local now = vim.fn.winsaveview()
          if now.lnum ~= view.lnum or now.col ~= view.col or now.topline ~= view.topline then
            vim.fn.winrestview(view)
          end
        end)
      end
    end
    if restore_selection then
      restore_selection()
    end
    vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  end
end

--- Applies edits as one undo step, and leaves each window's cursor and text, and what is selected, where they were.
---@param made hashline.Parcel
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@param number integer? of the delivery
local function apply_quietly(made, encoding, number)
  local buf = made.buf
  close_undo_block(buf)
  local restore = remember_view(buf, made.edits)
  local move_shown = state.hold(buf)
  local ok, failure = cause.delivering(buf, number, function()
    vim.lsp.util.apply_text_edits(made.edits, buf, encoding)
  end)
  move_shown()
  -- Whether the windows can be put back is no matter of whether the edit was applied.
  local stayed, why = pcall(function()
    close_undo_block(buf)
    restore()
  end)
  if not stayed then
    local sentence = "hashline: after an edit the windows could not be put back where they were: %s"
    vim.notify(sentence:format(tostring(why)), vim.log.levels.WARN)
  end
  if not ok then
    error(failure, 0)
  end
end

---@param buf integer
---@param was_modified boolean
local function save_after(buf, was_modified)
  local wish = require("hashline.config").get("saveAfterAccept")
  if wish == "always" or (wish == "ifClean" and not was_modified) then
    vim.schedule(function()
      if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" then
        vim.api.nvim_buf_call(buf, function()
          vim.cmd("silent update")
        end)
      end
    end)
  end
end

---@class hashline.Delivery : lsp.ApplyWorkspaceEditParams
---@field delivery integer? its number; an operation on a file has none

---@param params hashline.Delivery
---@param client vim.lsp.Client
---@return lsp.ApplyWorkspaceEditResult
function M.apply(params, client)
  local edit = params.edit
  local number = type(params.delivery) == "number" and params.delivery or nil -- not the null of Neovim 0.12
  let_command_end(edit)
  local parcels, operations = {}, {}
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.kind then
      local operation, reason = file_operation.prepare(change)
      if not operation then
        return { applied = false, failureReason = reason }
      end
      operations[#operations + 1] = operation
    else
      local document = change.textDocument
      local made, reason = parcel(client, document.uri, document.version, change.edits)
      if not made then
        return { applied = false, failureReason = reason }
      end
      parcels[#parcels + 1] = made
    end
  end
  if not edit.documentChanges then
    for uri, edits in pairs(edit.changes or {}) do
      local made, reason = parcel(client, uri, nil, edits)
      if not made then
        return { applied = false, failureReason = reason }
      end
      parcels[#parcels + 1] = made
    end
  end
  parcels = vim.tbl_filter(function(made)
    return #made.edits > 0
  end, parcels)
  if #operations > 1 or (#operations == 1 and #parcels > 0) then
    return { applied = false, failureReason = "a file is renamed or removed by itself" }
  end
  for _, operation in ipairs(operations) do
    local failure = file_operation.carry_out(operation)
    return { applied = not failure, failureReason = failure }
  end
  for _, made in ipairs(parcels) do
    local buf = made.buf
    local was_modified = vim.bo[buf].modified --[[@as boolean]]
    local ok, failure = pcall(apply_quietly, made, client.offset_encoding, number)
    if not ok then
      return { applied = false, failureReason = tostring(failure) }
    end
    -- "Accept 3f2a9c1b:1"; what goes in without the person's word, or comes out, is not saved for them.
    if vim.startswith(params.label or "", "Accept ") then
      save_after(buf, was_modified)
    end
  end
  return { applied = true }
end

return M
