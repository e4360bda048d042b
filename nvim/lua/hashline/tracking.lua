--- What Neovim's LSP client leaves undone when it follows a buffer's text.
local M = {}

--- Sends what was changed at once instead of after Neovim's 150 ms.
---@param client vim.lsp.Client
---@param buf integer
function M.flush(client, buf)
  local ok, tracking = pcall(require, "vim.lsp._changetracking")
  if ok and tracking.flush then
    pcall(tracking.flush, client, buf)
  end
end

---@param fn function
---@param name string
---@return any
local function upvalue(fn, name)
  for i = 1, 60 do
    local found, value = debug.getupvalue(fn, i)
    if not found then
      return nil
    elseif found == name then
      return value
    end
  end
end

--- To be called while a change of a buffer is being reported. A buffer that is changed while it has no client loses
--- Neovim's listener (0.11.4 and 0.12.4), and Neovim remembers it as listened to: no client that comes later is told
--- of any change, and edits that are made for the text as it was go wherever they fall. So it is to forget the buffer.
---@param buf integer
function M.heed_loss(buf)
  if #vim.lsp.get_clients({ bufnr = buf, _uninitialized = true }) > 0 then
    return
  end
  local attach = upvalue(vim.lsp.buf_attach_client, "buf_attach")
  local listened_to = type(attach) == "function" and upvalue(attach, "attached_buffers")
  if type(listened_to) == "table" then
    listened_to[buf] = nil
  end
end

return M
