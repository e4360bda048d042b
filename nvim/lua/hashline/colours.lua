--- The colours of added and removed lines, made from those of the theme.
---
--- Themes colour whole windows in diff mode: some have no background for what is removed, others one on which text with syntax
--- colours cannot be read. So only the hues of DiffAdd and DiffDelete are taken. How light a background is follows from
--- Normal: text can be read on it, and what is added is lighter than what is removed, for those who do not see the hues.
local M = {}

--- Which group of the theme each is made from.
M.sources = {
  HashlineAdded = "DiffAdd",
  HashlineRemoved = "DiffDelete",
  HashlineAddedWord = "DiffAdd",
  HashlineRemovedWord = "DiffDelete",
}

local LEAST_CONTRAST = 4.6 -- of text: the 4.5 of WCAG's level AA, with room for rounding

---@param colour integer
---@return number red from 0 to 1
---@return number green
---@return number blue
local function parts(colour)
  return math.floor(colour / 65536) / 255, math.floor(colour / 256) % 256 / 255, colour % 256 / 255
end

--- How light a colour is, as WCAG defines it.
---@param colour integer
---@return number from 0 to 1
function M.luminance(colour)
  local function linear(part)
    return part <= 0.04045 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4
  end
  local red, green, blue = parts(colour)
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
end

--- The contrast of two colours, as WCAG defines it.
---@param one integer
---@param other integer
---@return number from 1 to 21
function M.contrast(one, other)
  local a, b = M.luminance(one) + 0.05, M.luminance(other) + 0.05
  return math.max(a, b) / math.min(a, b)
end

---@param colour integer
---@return number hue in degrees
---@return number saturation from 0 to 1
local function hue_of(colour)
  local red, green, blue = parts(colour)
  local most, least = math.max(red, green, blue), math.min(red, green, blue)
  local range = most - least
  if range == 0 then
    return 0, 0
  end
  local hue = most == red and (green - blue) / range % 6
    or most == green and (blue - red) / range + 2
    or (red - green) / range + 4
  return 60 * hue, range / (1 - math.abs(most + least - 1))
end

---@param hue number
---@param saturation number
---@param lightness number
---@return integer
local function colour_of(hue, saturation, lightness)
  local function part(offset)
    local at = (offset + hue / 30) % 12
    local amount = lightness
      - saturation * math.min(lightness, 1 - lightness) * math.max(-1, math.min(at - 3, 9 - at, 1))
    return math.floor(255 * amount + 0.5)
  end
  return 65536 * part(0) + 256 * part(8) + part(4)
end

--- The colour of a hue that is as light as wanted.
---@param hue number
---@param saturation number
---@param luminance number
---@return integer
local function as_light_as(hue, saturation, luminance)
  local low, high = 0.0, 1.0 ---@type number, number
  for _ = 1, 12 do
    local middle = (low + high) / 2
    if M.luminance(colour_of(hue, saturation, middle)) < luminance then
      low = middle
    else
      high = middle
    end
  end
  return colour_of(hue, saturation, high)
end

---@param name string
---@return vim.api.keyset.get_hl_info
local function theme(name)
  local found = vim.api.nvim_get_hl(0, { name = name, link = false })
  if found.reverse then
    found.fg, found.bg = found.bg, found.fg
  end
  return found
end

local GREEN, RED = 140, 0
local MOST_SATURATED = 0.6

--- The hues for what is added and what is removed: green and red, where the theme has none or hardly tells one from the other.
---@return [number, number] added hue and saturation
---@return [number, number] removed
local function hues()
  local added, removed = theme("DiffAdd"), theme("DiffDelete")
  local add_hue, add_saturation = hue_of(added.bg or added.fg or 0)
  local remove_hue, remove_saturation = hue_of(removed.bg or removed.fg or 0)
  local apart = math.abs((add_hue - remove_hue + 180) % 360 - 180)
  if add_saturation < 0.1 or remove_saturation < 0.1 or apart < 40 then
    return { GREEN, MOST_SATURATED }, { RED, MOST_SATURATED }
  end
  return { add_hue, math.min(add_saturation, MOST_SATURATED) }, {
    remove_hue,
    math.min(remove_saturation, MOST_SATURATED),
  }
end

--- The backgrounds for the theme as it is.
---@return table<string, integer> by highlight group
function M.backgrounds()
  local normal, is_dark = theme("Normal"), vim.o.background == "dark"
  local behind = normal.bg or (is_dark and 0x000000 or 0xffffff)
  local text = normal.fg or (is_dark and 0xffffff or 0x000000)
  is_dark = M.luminance(text) > M.luminance(behind)
  -- Four backgrounds at three distances from that of the theme: what is added is always the lighter.
  local room = math.min(M.contrast(text, behind) / LEAST_CONTRAST, is_dark and 2.2 or 1.75)
  local function at(distance)
    local ratio = room ^ (distance / 3)
    return (M.luminance(behind) + 0.05) * (is_dark and ratio or 1 / ratio) - 0.05
  end
  local added, removed = hues()
  local near, far = is_dark and removed or added, is_dark and added or removed
  local near_name, far_name =
    is_dark and "HashlineRemoved" or "HashlineAdded", is_dark and "HashlineAdded" or "HashlineRemoved"
  return {
    [near_name] = as_light_as(near[1], near[2], at(1)),
    [near_name .. "Word"] = as_light_as(near[1], near[2], at(2)),
    [far_name] = as_light_as(far[1], far[2], at(2)),
    [far_name .. "Word"] = as_light_as(far[1], far[2], at(3)),
  }
end

local made = {} ---@type table<string, vim.api.keyset.get_hl_info> as they were defined here

--- Defines the groups that nobody else defines.
function M.define()
  for name, background in pairs(M.backgrounds()) do
    local now = vim.api.nvim_get_hl(0, { name = name })
    if vim.tbl_isempty(now) or vim.deep_equal(now, made[name]) then
      local source, is_word = theme(assert(M.sources[name])), vim.endswith(name, "Word")
      -- A terminal without these colours has those of the theme.
      local is_plain = not source.ctermbg and not (source.cterm or {}).reverse
      vim.api.nvim_set_hl(0, name, {
        bg = background,
        bold = is_word,
        ctermfg = source.ctermfg,
        ctermbg = source.ctermbg,
        cterm = { reverse = is_plain or (source.cterm or {}).reverse, bold = is_word, underline = is_word },
      })
      made[name] = vim.api.nvim_get_hl(0, { name = name })
    end
  end
end

return M
