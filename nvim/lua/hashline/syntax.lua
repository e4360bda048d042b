--- The highlights of lines that are not in a buffer, as the treesitter parser of its filetype has them.
local M = {}

-- Beyond these the highlights cost more than they show.
local LONGEST = 1000 -- bytes of a line
local MOST_BYTES = 20000 -- of all lines
local MOST_KNOWN = 500

---@class hashline.Painted a part of a line in one colour
---@field [1] integer first byte, 0-based
---@field [2] integer end byte, exclusive
---@field [3] string highlight group

--- The language that lines of a buffer are highlighted in: none where the buffer itself is plain, or there is no parser.
---@param buf integer
---@return string?
function M.language(buf)
  local is_plain = vim.bo[buf].syntax == "" and not vim.treesitter.highlighter.active[buf]
  local language = not is_plain and vim.treesitter.language.get_lang(vim.bo[buf].filetype)
  if language and vim.F.npcall(vim.treesitter.language.add, language) then
    return language
  end
end

--- Finds the highlights of a text, by line and byte.
---@param text string
---@param language string
---@return table<integer, table<integer, string>> painted by row and column, both 0-based
local function paint(text, language)
  local painted = {} ---@type table<integer, table<integer, string>>
  local query = vim.treesitter.query.get(language, "highlights")
  if not query then
    return painted
  end
  local tree = assert(vim.treesitter.get_string_parser(text, language):parse())[1]
  for id, node, metadata in query:iter_captures(tree:root(), text) do
    local name = query.captures[id]
    if not (name:find("^_") or name:find("spell") or name:find("^conceal")) then
      local range = vim.treesitter.get_range(node, text, metadata[id])
      local group = ("@%s.%s"):format(name, language)
      for row = range[1], range[4] do
        painted[row] = painted[row] or {}
        -- What spans lines is painted up to where any line may end.
        for column = row == range[1] and range[2] or 0, (row == range[4] and range[5] or LONGEST) - 1 do
          painted[row][column] = group -- of several, the last counts
        end
      end
    end
  end
  return painted
end

--- The parts of a line that have one colour each.
---@param columns table<integer, string>
---@param length integer
---@return hashline.Painted[]
local function parts_of(columns, length)
  local parts = {}
  for column = 0, length - 1 do
    local last, group = parts[#parts], columns[column]
    if last and last[2] == column and last[3] == group then
      last[2] = column + 1
    elseif group then
      parts[#parts + 1] = { column, column + 1, group }
    end
  end
  return parts
end

local known, count = {}, 0 ---@type table<string, table<integer, hashline.Painted[]>>, integer by language and text

--- The highlights of lines.
---@param lines string[]
---@param language string
---@return table<integer, hashline.Painted[]> by line
function M.of(lines, language)
  local text = table.concat(lines, "\n")
  local key = language .. "\n" .. text
  if known[key] then
    return known[key]
  end
  local found, longest = {}, 0
  for _, line in ipairs(lines) do
    longest = math.max(longest, #line)
  end
  if longest > LONGEST or #text > MOST_BYTES then
    return found
  end
  -- A query that was written for another version of the parser fails.
  local ok, painted = pcall(paint, text, language)
  for i, line in ipairs(ok and lines or {}) do
    found[i] = parts_of(painted[i - 1] or {}, #line)
  end
  if count >= MOST_KNOWN then
    known, count = {}, 0
  end
  known[key], count = found, count + 1
  return found
end

return M
