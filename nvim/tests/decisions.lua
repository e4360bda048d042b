--- What the plugin says of decisions, and a person who chooses.
local patience = require("patience")

local M = {}

--- The decisions that were said, without their null and false fields, once there are so many.
---@param child Child
---@param count integer
function M.said(child, count)
  local said
  patience.wait(function()
    said = child:said("hashline/decide")
    return #said >= count
  end, count .. " decisions")
  return vim.tbl_map(function(message)
    local short = {}
    for field, value in pairs(message.params) do
      if value ~= vim.NIL and value ~= false then
        short[field] = value
      end
    end
    return short
  end, said)
end

--- Chooses by itself what a person would choose, the first that has these words, and remembers what was `offered`.
---@param child Child
---@param wish string
function M.choose(child, wish)
  child:lua(
    [[
      local wish = ...
      offered = {}
      vim.ui.select = function(items, options, on_choice)
        local labels = vim.tbl_map(options.format_item, items)
        table.insert(offered, { options.prompt, labels })
        for i, label in ipairs(labels) do
          if label:find(wish, 1, true) then return on_choice(items[i], i) end
        end
        on_choice(nil)
      end
    ]],
    wish
  )
end

return M
