--- The text beside the text with the held hunks in it, in Neovim's own diff mode.
local render = require("hashline.render")
local state = require("hashline.state")

local M = {}

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

---@param buf integer
---@param text string
---@param title string
local function show(buf, text, title)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.wo[win].diff then
      vim.cmd("tab split") -- this tab page compares something already
      break
    end
  end
  local own = vim.api.nvim_get_current_win()
  vim.cmd("vertical rightbelow new")
  local win, scratch = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  vim.bo[scratch].buftype = "nofile"
  vim.bo[scratch].bufhidden = "wipe"
  vim.bo[scratch].swapfile = false
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, as_lines(buf, text))
  vim.bo[scratch].filetype = vim.bo[buf].filetype
  vim.bo[scratch].modifiable = false
  pcall(vim.api.nvim_buf_set_name, scratch, title)
  vim.api.nvim_win_call(own, vim.cmd.diffthis)
  vim.api.nvim_win_call(win, vim.cmd.diffthis)
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = scratch,
    once = true,
    callback = function()
      render.hide(buf, false)
      if vim.api.nvim_win_is_valid(own) then
        vim.api.nvim_win_call(own, vim.cmd.diffoff)
      end
    end,
  })
  render.hide(buf, true)
  vim.api.nvim_set_current_win(own)
end

function M.open()
  local buf = vim.api.nvim_get_current_buf()
  local document = state.of_buffer(buf)
  if not document or #document.entries == 0 then
    vim.api.nvim_echo({ { "hashline: nothing to compare in this buffer" } }, false, {})
    return
  end
  local client = vim.lsp.get_client_by_id(document.client_id)
  if not client then
    return
  end
  local window = vim.api.nvim_get_current_win()
  client:request("hashline/proposedText", { uri = document.uri }, function(failure, result)
    if failure then
      vim.notify("hashline: " .. (failure.message or vim.inspect(failure)), vim.log.levels.ERROR)
    elseif vim.api.nvim_get_current_win() == window and vim.api.nvim_get_current_buf() == buf then
      show(
        buf,
        result.text,
        ("hashline://proposed/%s"):format(vim.fs.basename(vim.api.nvim_buf_get_name(buf)))
      )
    end
  end, buf)
end

return M
