--- Choosing one of all undecided hunks, by whatever `vim.ui.select` is set to, and going to it.
local list = require("hashline.list")
local navigation = require("hashline.navigation")
local state = require("hashline.state")

local M = {}

---@param place hashline.Place
---@return string
local function described(place)
  local item = list.item(place.document, place.entry)
  return ("%s:%d · %s"):format(vim.fn.fnamemodify(place.document.key, ":~:."), item.lnum, item.text)
end

function M.open()
  local places = state.places()
  if #places == 0 then
    vim.api.nvim_echo({ { "Nothing is left to review." } }, false, {})
    return
  end
  vim.ui.select(
    places,
    { prompt = "Go to which hunk?", kind = "hashline", format_item = described },
    function(place)
      if place then
        navigation.visit(place)
      end
    end
  )
end

return M
