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

--- Goes to a hunk, and opens its file if need be.
---@param place hashline.Place
local function go(place)
  local item = list.item(place.document, place.entry)
  vim.cmd.normal({ "m'", bang = true })
  if place.document.buf then
    vim.cmd.buffer({ place.document.buf, mods = { keepjumps = true } })
  elseif item.filename then
    vim.cmd.edit({ vim.fn.fnameescape(item.filename), mods = { keepjumps = true } })
  else
    return
  end
  local fresh = state.named(place.entry.name)
  if fresh and fresh.document.buf == vim.api.nvim_get_current_buf() and fresh.entry.lines then
    return navigation.settle_on(fresh.entry)
  end
  -- It was opened just now: the sidecar says soon where the hunk is, which is here or near.
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_win_set_cursor(0, { math.min(item.lnum, last), 0 })
end

function M.open()
  local places = state.places()
  if #places == 0 then
    vim.api.nvim_echo({ { "hashline: nothing to decide" } }, false, {})
    return
  end
  vim.ui.select(
    places,
    { prompt = "Go to which hunk?", kind = "hashline", format_item = described },
    function(place)
      if place then
        go(place)
      end
    end
  )
end

return M
