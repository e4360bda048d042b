--- The text beside the text with the held hunks in it: in a tab page of its own, in Neovim's own diff mode.
local protocol = require("hashline.protocol")
local render = require("hashline.render")
local state = require("hashline.state")

local M = {}

---@class hashline.Comparison
---@field buf integer
---@field tab integer
---@field own integer the window with the text
---@field scratch integer the buffer with the proposed text
---@field hides boolean whether the hunks in the text are left undrawn for it, now

local comparisons = {} ---@type table<integer, hashline.Comparison> by buffer

---@param buf integer
---@param text string
---@return string[]
local function as_lines(buf, text)
  local lines = vim.split(text:gsub("\r\n", "\n"), "\n", { plain = true })
  if lines[#lines] == "" and vim.bo[buf].endofline and #lines > 1 then
    lines[#lines] = nil
  end
  return lines
end

--- Asks for the text that is proposed now.
---@param document hashline.Document
---@param on_text fun(text: string)
local function ask(document, on_text)
  local client = vim.lsp.get_client_by_id(document.client_id)
  if not client then
    return
  end
  protocol.ask(client, "hashline/proposedText", { uri = document.uri }, function(failure, result)
    if failure then
      vim.notify("hashline: " .. (failure.message or vim.inspect(failure)), vim.log.levels.ERROR)
    else
      on_text(result.text)
    end
  end, document.buf)
end

---@param comparison hashline.Comparison
---@param text string
local function fill(comparison, text)
  local scratch = comparison.scratch
  local lines = as_lines(comparison.buf, text)
  if vim.deep_equal(lines, vim.api.nvim_buf_get_lines(scratch, 0, -1, true)) then
    return
  end
  vim.bo[scratch].modifiable = true
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, lines)
  vim.bo[scratch].modifiable = false
end

--- Virtual lines would put the two windows out of line: the hunks are not drawn while the comparison is looked at.
---@param comparison hashline.Comparison
---@param hides boolean
local function hide_hunks(comparison, hides)
  if comparison.hides ~= hides then
    comparison.hides = hides
    render.hide(comparison.buf, hides)
  end
end

--- Ends a comparison whose window was closed: what is left of it goes, too.
---@param comparison hashline.Comparison
local function finish(comparison)
  if comparisons[comparison.buf] ~= comparison then
    return
  end
  comparisons[comparison.buf] = nil
  hide_hunks(comparison, false)
  if vim.api.nvim_win_is_valid(comparison.own) then
    vim.api.nvim_win_call(comparison.own, vim.cmd.diffoff)
    local alone = vim.api.nvim_tabpage_is_valid(comparison.tab)
      and #vim.api.nvim_tabpage_list_wins(comparison.tab) == 1
    if alone and #vim.api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(comparison.tab))
    end
  end
  if vim.api.nvim_buf_is_valid(comparison.scratch) then
    vim.api.nvim_buf_delete(comparison.scratch, { force = true })
  end
end

local group ---@type integer?

--- What is looked at, and what is proposed, changes while comparisons are open.
local function watch()
  if group then
    return
  end
  group = vim.api.nvim_create_augroup("hashline.compare", {})
  vim.api.nvim_create_autocmd({ "TabEnter", "TabLeave" }, {
    group = group,
    callback = function(event)
      for _, comparison in pairs(comparisons) do
        local here = vim.api.nvim_get_current_tabpage() == comparison.tab
        hide_hunks(comparison, event.event == "TabEnter" and here)
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "WinClosed", "BufWipeout" }, {
    group = group,
    callback = function(event)
      for _, comparison in pairs(comparisons) do
        if event.match == tostring(comparison.own) or event.buf == comparison.scratch then
          vim.schedule(function()
            finish(comparison)
          end)
        end
      end
    end,
  })
  state.subscribe(function(document)
    local comparison = document.buf and comparisons[document.buf]
    if comparison then
      ask(document, function(text)
        if comparisons[comparison.buf] == comparison then
          fill(comparison, text)
        end
      end)
    end
  end)
end

---@param buf integer
---@param text string
local function show(buf, text)
  vim.cmd("tab split")
  local own, tab = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_tabpage()
  vim.cmd("vertical rightbelow new")
  local win, scratch = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  vim.bo[scratch].buftype = "nofile"
  vim.bo[scratch].bufhidden = "wipe"
  vim.bo[scratch].swapfile = false
  local comparison = { buf = buf, tab = tab, own = own, scratch = scratch, hides = false }
  fill(comparison, text)
  vim.bo[scratch].filetype = vim.bo[buf].filetype
  vim.bo[scratch].modifiable = false
  pcall(
    vim.api.nvim_buf_set_name,
    scratch,
    "hashline://proposed/" .. vim.fs.basename(vim.api.nvim_buf_get_name(buf))
  )
  vim.api.nvim_win_call(own, vim.cmd.diffthis)
  vim.api.nvim_win_call(win, vim.cmd.diffthis)
  watch()
  comparisons[buf] = comparison
  hide_hunks(comparison, true)
  vim.api.nvim_set_current_win(own)
end

--- Compares the current buffer with what is proposed for it, or goes to the comparison that there is.
function M.open()
  local buf = vim.api.nvim_get_current_buf()
  local document = state.of_buffer(buf)
  local before = comparisons[buf]
  if before then
    vim.api.nvim_set_current_win(before.own)
    return
  elseif not document or #document.entries == 0 then
    vim.api.nvim_echo({ { "hashline: nothing to compare in this buffer" } }, false, {})
    return
  end
  local window = vim.api.nvim_get_current_win()
  ask(document, function(text)
    local is_here = vim.api.nvim_get_current_win() == window and vim.api.nvim_get_current_buf() == buf
    if is_here and not comparisons[buf] then
      show(buf, text)
    end
  end)
end

return M
