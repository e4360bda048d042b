--- Tells the sidecar that a change is an undo or a redo: nothing in LSP says so.
---
--- While Neovim undoes or redoes, one entry of undotree() is marked `curhead`, and typing clears the
--- mark before its change is seen. undotree() takes 0.3 ms with 1,000 undo steps, so it is not asked
--- when changenr() has gone up (a new step), and once for changes that follow each other under the same
--- number, in the same mode and the same turn of the event loop. (changenr() changes after the change is
--- reported, so each step of several undos has a number of its own.)
local M = {}

---@class hashline.UndoWatch
---@field newest integer the highest changenr() seen
---@field last string? number and mode of the change before, once asked about

local watches = {} ---@type table<integer, hashline.UndoWatch> by buffer

---@return "undo"|"redo"|nil
local function under_way()
  local tree = vim.fn.undotree()
  local function curhead(entries)
    for i = #entries, 1, -1 do
      local entry = entries[i]
      if entry.curhead then
        return entry.seq
      end
      local found = entry.alt and curhead(entry.alt)
      if found then
        return found
      end
    end
  end
  local seq = curhead(tree.entries)
  if not seq then
    return nil
  end
  return seq > tree.seq_cur and "redo" or "undo"
end

--- Judges the change that is being reported. To be called from on_lines.
---@param buf integer
---@return "undo"|"redo"|nil kind when a mark is to be sent
function M.judge(buf)
  if buf ~= vim.api.nvim_get_current_buf() then
    return nil -- undo works on the current buffer only
  end
  local number = vim.fn.changenr()
  local watch = watches[buf]
  if not watch then
    watch = { newest = vim.fn.undotree().seq_last }
    watches[buf] = watch
  end
  if number > watch.newest then
    watch.newest, watch.last = number, nil
    return nil
  end
  local circumstances = number .. vim.api.nvim_get_mode().mode
  if watch.last == circumstances then
    return nil -- more of the same step
  end
  if not watch.last then
    vim.schedule(function()
      watch.last = nil
    end)
  end
  watch.last = circumstances
  return under_way()
end

---@param buf integer
function M.forget(buf)
  watches[buf] = nil
end

return M
