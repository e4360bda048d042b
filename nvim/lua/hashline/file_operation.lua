--- Renames and removes the file of a buffer, as the sidecar asks: only where nothing can be lost by it.
---
--- Neovim's own way writes the buffer with all its autocommands when it renames, and forgets unsaved changes, with the windows, when it
--- removes (`vim.lsp.util` of 0.11.4 and 0.12.4). Here the buffer stays, with its undo history, marks and windows; one that is removed leaves its
--- windows open.
local state = require("hashline.state")

local M = {}

---@param path string
---@return boolean
local function is_there(path)
  return vim.uv.fs_lstat(path) ~= nil
end

--- The buffer that has exactly this name.
---@param path string
---@return integer?
local function buffer_named(path)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buf) == path then
      return buf
    end
  end
end

---@param buf integer
---@return boolean
local function is_being_typed_in(buf)
  return buf == vim.api.nvim_get_current_buf() and vim.api.nvim_get_mode().mode:find("^[iR]") ~= nil
end

---@class hashline.Operation
---@field buf integer
---@field path string
---@field to string? none: it is removed

--- What an operation of the sidecar's comes to here.
---@param change table a file operation of LSP
---@return hashline.Operation?
---@return string? reason why it is not done
function M.prepare(change)
  local uri = change.kind == "rename" and change.oldUri or change.uri
  if change.kind ~= "rename" and change.kind ~= "delete" then
    return nil, "only renaming and removing are done here"
  end
  local buf = state.buffer_of_uri(uri)
  if not buf or not vim.api.nvim_buf_is_loaded(buf) then
    return nil, "it is not open here"
  elseif vim.bo[buf].modified then
    return nil, "it has changes that are not saved; save it first"
  elseif is_being_typed_in(buf) then
    return nil, "you are typing in it"
  end
  local path = vim.api.nvim_buf_get_name(buf)
  if not is_there(path) then
    return nil, "it is not on the disk"
  end
  if change.kind == "delete" then
    return { buf = buf, path = path }
  end
  local to = vim.uri_to_fname(change.newUri)
  if is_there(to) then
    return nil, to .. " is there already"
  end
  local other = buffer_named(to)
  if other and vim.api.nvim_buf_is_loaded(other) then
    return nil, "another buffer is called " .. to
  end
  return { buf = buf, path = path, to = to }
end

--- Tells Neovim that the buffer is the file of its new name: else `:write` refuses to overwrite that. The file holds these very lines, so
--- nothing is changed by it, and nobody is to format them.
---@param buf integer
local function own_file(buf)
  if vim.bo[buf].readonly then
    return -- `:write` asks for its `!` anyway
  end
  local fixed = vim.bo[buf].fixendofline
  vim.bo[buf].fixendofline = false
  pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd("silent noautocmd keepalt write!")
  end)
  vim.bo[buf].fixendofline = fixed
end

--- The undo file goes along.
---@param from string
---@param to string
local function move_undo_file(from, to)
  local old, new = vim.fn.undofile(from), vim.fn.undofile(to)
  if old ~= "" and is_there(old) then
    pcall(vim.uv.fs_rename, old, new)
  end
end

---@param operation hashline.Operation
---@return string? failure
local function rename(operation)
  local buf, from, to = operation.buf, operation.path, operation.to --[[@as string]]
  vim.fn.mkdir(vim.fs.dirname(to), "p")
  local unloaded = buffer_named(to)
  if unloaded then
    vim.api.nvim_buf_delete(unloaded, {})
  end
  -- Other language servers: the document ends under the old name, and begins under the new one.
  local others = vim.tbl_filter(function(client)
    return client.name ~= "hashline"
  end, vim.lsp.get_clients({ bufnr = buf }))
  local renamed, failure = vim.uv.fs_rename(from, to)
  if not renamed then
    return failure
  end
  for _, client in ipairs(others) do
    vim.lsp.buf_detach_client(buf, client.id)
  end
  -- That it has the new name is told when the file is written: who hears of it, the sidecar among them, reads it then.
  local ignored = vim.o.eventignore
  vim.opt.eventignore:append("BufFilePost")
  local named, why = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd("silent keepalt file " .. vim.fn.fnameescape(to))
  end)
  vim.o.eventignore = ignored
  if not named then
    vim.uv.fs_rename(to, from)
  else
    own_file(buf)
    move_undo_file(from, to)
    vim.api.nvim_exec_autocmds("BufFilePost", { buffer = buf, modeline = false })
    local left = buffer_named(from) -- Neovim keeps the old name in a buffer of its own
    if left and not vim.api.nvim_buf_is_loaded(left) then
      vim.api.nvim_buf_delete(left, { force = true })
    end
  end
  for _, client in ipairs(others) do
    vim.lsp.buf_attach_client(buf, client.id)
  end
  return not named and tostring(why) or nil
end

--- What a window shows instead of a buffer: the one that was in it before, or an empty one.
---@param win integer
---@param buf integer
local function show_another(win, buf)
  vim.api.nvim_win_call(win, function()
    local alternate = vim.fn.bufnr("#")
    local usable = alternate > 0 and alternate ~= buf and vim.bo[alternate].buflisted
    vim.api.nvim_win_set_buf(win, usable and alternate or vim.api.nvim_create_buf(true, false))
  end)
end

---@param operation hashline.Operation
---@return string? failure
local function remove(operation)
  local removed, failure = vim.uv.fs_unlink(operation.path)
  if not removed then
    return failure
  end
  for _, win in ipairs(vim.fn.win_findbuf(operation.buf)) do
    show_another(win, operation.buf)
  end
  -- Without force: what a buffer has that is nowhere else is not forgotten.
  local ok, why = pcall(vim.api.nvim_buf_delete, operation.buf, {})
  return not ok and tostring(why) or nil
end

--- Carries an operation out.
---@param operation hashline.Operation
---@return string? failure
function M.carry_out(operation)
  if operation.to then
    return rename(operation)
  end
  return remove(operation)
end

return M
