--- The screens that show hunks beside the text itself: the list, the review and the history. A decision there is about what is in the
--- lines of the screen.
local M = {}

---@class hashline.Screen
---@field is_here fun(): boolean whether the cursor is in it
---@field places fun(first: integer, last: integer): hashline.Place[] the hunks that can be decided and that lines of it are about, 1-based
---@field places_of_files fun(first: integer, last: integer): hashline.Place[] all that it shows of the files of these
---@field nothing string what is said where a line has none
---@field step (fun(count: integer))? goes to another hunk in it; without it the hunk is gone to in its file

local screens = {} ---@type hashline.Screen[]

---@param screen hashline.Screen
function M.add(screen)
  screens[#screens + 1] = screen
end

--- The screen that the cursor is in.
---@return hashline.Screen?
function M.here()
  for _, screen in ipairs(screens) do
    if screen.is_here() then
      return screen
    end
  end
end

return M
