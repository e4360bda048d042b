--- Tells the sidecar that a change is an undo or a redo: nothing in LSP says so.
---
--- While Neovim undoes or redoes, one entry of undotree() is marked `curhead`, and typing clears the
--- mark before its change is seen. undotree() takes 0.3 ms with 1,000 undo steps, so it is not asked
--- when changenr() has gone up (a new step) and only once for equal circumstances in one turn of the
--- event loop.
local M = {}

---@class hashline.UndoWatch
---@field newest integer the highest changenr() seen
---@field asked table<string, string|false> verdicts of this turn of the event loop

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
    watch = { newest = vim.fn.undotree().seq_last, asked = {} }
    watches[buf] = watch
  end
  if number > watch.newest then
    watch.newest = number
    return nil
  end
  local circumstances = number .. vim.api.nvim_get_mode().mode
  local verdict = watch.asked[circumstances]
  if verdict == nil then
    verdict = under_way() or false
    if next(watch.asked) == nil then
      vim.schedule(function()
        watch.asked = {}
      end)
    end
    watch.asked[circumstances] = verdict
    return verdict or nil
  end
  return nil -- the mark of this step has been sent already
end

---@param buf integer
function M.forget(buf)
  watches[buf] = nil
end

return M
