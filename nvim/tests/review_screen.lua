--- What the review shows, as tests read it.
local M = {}

--- The lines of the hunks, or of the files.
---@param child Child
---@param of_files boolean?
---@return string[]
function M.lines(child, of_files)
  return child:lua(
    [[
      local buf = vim.fn.bufnr(... and "hashline://review/files$" or "hashline://review$")
      return buf > 0 and vim.api.nvim_buf_get_lines(buf, 0, -1, true) or {}
    ]],
    of_files
  )
end

--- The totals at the top.
---@param child Child
function M.totals(child)
  return child:lua([[
    local win = vim.fn.win_findbuf(vim.fn.bufnr("hashline://review$"))[1]
    local bar = win and vim.wo[win].winbar or ""
    return vim.trim(bar:match("#HashlineHeader#(.-)%%=") or "")
  ]])
end

--- The line that the cursor is in.
---@param child Child
function M.line(child)
  return child:lua("return vim.api.nvim_get_current_line()")
end

--- Waits until one of the lines of the hunks begins so.
---@param t table the runner
---@param child Child
---@param start string
---@param of_files boolean?
function M.waits_for(t, child, start, of_files)
  local found
  t.wait(function()
    found = M.lines(child, of_files)
    for _, line in ipairs(found) do
      if vim.startswith(line, start) then
        return true
      end
    end
  end, function()
    return ("no line begins with %q:\n%s"):format(start, table.concat(found, "\n"))
  end)
end

return M
