--- Asks what an agent is to be told: why something is rejected, or without a decision.
local M = {}

--- The reasons that are offered. What an agent is told of them has no capital.
M.replies = { "Wrong approach", "Not here" }

local TYPE = "Type…"

---@param typed string?
---@param on_reason fun(reason: string)
local function take(typed, on_reason)
  local reason = vim.trim(typed or "")
  if reason ~= "" then
    on_reason(reason)
  end
end

--- Asks for one of the replies, or for words of the person's own. Where they leave it, nothing happens.
---@param on_reason fun(reason: string)
function M.ask(on_reason)
  local prompt = "Why? The agent is told."
  vim.ui.select(vim.list_extend({ unpack(M.replies) }, { TYPE }), {
    prompt = prompt,
    kind = "hashline",
  }, function(reply)
    if reply == TYPE then
      vim.ui.input({ prompt = prompt .. " " }, function(typed)
        take(typed, on_reason)
      end)
    else
      take(reply and reply:lower(), on_reason)
    end
  end)
end

--- Asks for a comment, likewise.
---@param on_comment fun(comment: string)
function M.ask_comment(on_comment)
  vim.ui.input({ prompt = "Comment, which the agent is told: " }, function(typed)
    take(typed, on_comment)
  end)
end

return M
