--- Waiting for what is to be seen: never for a time to pass, and never for ever.
local M = {}

M.LONGEST_MS = 30000 -- far more than anything here takes on a machine that has nothing else to do
local BETWEEN_MS = 5

--- Waits until something is so, and gives back what it is. What is asked may itself wait for an answer.
---@param ask fun(): any
---@param what string|fun(): string what never came, where it does not
---@return any
function M.wait(ask, what)
  local till = vim.uv.hrtime() + M.LONGEST_MS * 1e6
  while true do
    local found = ask()
    if found and found ~= vim.NIL then
      return found
    end
    if vim.uv.hrtime() > till then
      error("never: " .. (type(what) == "function" and what() or what), 2)
    end
    vim.wait(BETWEEN_MS)
  end
end

return M
