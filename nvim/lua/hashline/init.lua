--- hashline: agents edit the text that is in the editor; the person decides about each edit.
--- `:help hashline` is the manual.
local M = {}

local started = false

--- Puts the parts together. Happens with the first buffer or command, not when the plugin is loaded.
function M.start()
  if started then
    return
  end
  started = true
  local state = require("hashline.state")
  local client = require("hashline.client")
  state.subscribe(require("hashline.hunk_keys").update) -- the first, as the keys are drawn
  require("hashline.render").start()
  state.subscribe(require("hashline.status").update)
  state.subscribe(require("hashline.notice").update)
  state.subscribe(require("hashline.events").update)
  -- At once, as the next change may follow at once.
  local group = vim.api.nvim_create_augroup("hashline.name", {})
  vim.api.nvim_create_autocmd("BufFilePre", {
    group = group,
    desc = "hashline: the document under the old name ends",
    callback = function(event)
      client.leave(event.buf)
    end,
  })
  vim.api.nvim_create_autocmd("BufFilePost", {
    group = group,
    desc = "hashline: the document under the new name begins",
    callback = function(event)
      client.attach(event.buf)
    end,
  })
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = group,
    desc = "hashline: nobody waits for an editor that ends",
    callback = function()
      require("hashline.starting_mark").stop()
    end,
  })
end

--- Settings, if not given as `vim.g.hashline`. Calling it is optional.
---@param settings hashline.Settings?
function M.setup(settings)
  require("hashline.config").set(settings or {})
end

--- Brings a buffer to the sidecar when the event that opened it is over (its filetype is known then).
---@param buf integer
function M.attach_soon(buf)
  vim.schedule(function()
    if vim.api.nvim_buf_is_valid(buf) and require("hashline.client").is_for(buf) then
      M.start()
      require("hashline.client").attach(buf)
    end
  end)
end

return M
