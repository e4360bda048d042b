--- People who go on side by side: each is a function that waits by yielding what it waits for.
local patience = require("patience")

local M = {}

local LONGEST_MS = 3 * patience.LONGEST_MS -- of all that they do: less than a test may take

--- Lets them go on until each has come to an end.
---@param people fun()[]
function M.side_by_side(people)
  local threads = vim.tbl_map(function(person)
    return { run = coroutine.create(person) }
  end, people)
  local till = vim.uv.hrtime() + LONGEST_MS * 1e6
  local over
  repeat
    over = true
    for _, thread in ipairs(threads) do
      if not thread.awaited or thread.awaited() then
        thread.awaited = nil
        if coroutine.status(thread.run) ~= "dead" then
          local fine, awaited = coroutine.resume(thread.run)
          assert(fine, awaited)
          thread.awaited = awaited
        end
      end
      over = over and coroutine.status(thread.run) == "dead"
    end
    vim.wait(3)
    assert(vim.uv.hrtime() < till, "they never come to an end")
  until over
end

--- Waits until something is so.
---@param condition fun(): any
function M.await(condition)
  coroutine.yield(condition)
end

function M.pause(ms)
  local till = vim.uv.hrtime() + ms * 1e6
  M.await(function()
    return vim.uv.hrtime() >= till
  end)
end

return M
