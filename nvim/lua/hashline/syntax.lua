--- The highlights of lines that are not in a buffer, as those of the buffer are made: by a treesitter parser, or by its syntax.
local M = {}

-- Beyond these the highlights cost more than they show.
local LONGEST = 1000 -- bytes of a line
local MOST_BYTES = 10000 -- of all lines
local MOST_KNOWN = 2000

---@class hashline.Painted a part of a line in one colour
---@field [1] integer first byte, 0-based
---@field [2] integer end byte, exclusive
---@field [3] string highlight group

---@class hashline.Painter
---@field find fun(lines: string[], name: string): table<integer, table<integer, string>> painted by row and column, both 0-based
---@field name string of the treesitter language, or as in 'syntax', where there is no parser

--- Finds the highlights of lines by a parser.
---@param lines string[]
---@param language string
---@return table<integer, table<integer, string>> painted by row and column, both 0-based
local function by_parser(lines, language)
  local text = table.concat(lines, "\n")
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

local scratches = {} ---@type table<string, integer> buffers by their syntax

--- Finds the highlights of lines by a syntax, which Neovim has for buffers alone.
---@param lines string[]
---@param syntax string
---@return table<integer, table<integer, string>> painted by row and column, both 0-based
local function by_syntax(lines, syntax)
  local scratch = scratches[syntax]
  if not scratch or not vim.api.nvim_buf_is_loaded(scratch) then
    scratch = vim.api.nvim_create_buf(false, true)
    scratches[syntax] = scratch
    vim.bo[scratch].syntax = syntax
  end
  vim.api.nvim_buf_set_lines(scratch, 0, -1, true, lines)
  local painted = {}
  vim.api.nvim_buf_call(scratch, function()
    for row, line in ipairs(lines) do
      painted[row - 1] = {}
      for column = 0, #line - 1 do
        local id = vim.fn.synID(row, column + 1, 1)
        painted[row - 1][column] = id ~= 0 and vim.fn.synIDattr(id, "name") or nil
      end
    end
  end)
  return painted
end

--- What highlights a language: its parser, or else its syntax.
---@param filetype string
---@param syntax string "" where there is none
---@return hashline.Painter?
local function painter_of(filetype, syntax)
  local language = vim.treesitter.language.get_lang(filetype)
  if language then
    local ok, is_there = pcall(vim.treesitter.language.add, language)
    if ok and is_there then
      return { find = by_parser, name = language }
    end
  end
  return syntax ~= "" and syntax ~= "off" and { find = by_syntax, name = syntax } or nil
end

--- What highlights a buffer: nothing, where it is plain.
---@param buf integer
---@return hashline.Painter?
function M.painter(buf)
  local syntax = vim.bo[buf].syntax
  if syntax == "" and not vim.treesitter.highlighter.active[buf] then
    return nil
  end
  return painter_of(vim.bo[buf].filetype, syntax)
end

--- What would highlight a file that is not open: nothing, where files are plain.
---@param path string
---@return hashline.Painter?
function M.painter_of_file(path)
  local filetype = vim.g.syntax_on and vim.filetype.match({ filename = path })
  return filetype and painter_of(filetype, filetype) or nil
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

local known, count = {}, 0 ---@type table<string, table<integer, hashline.Painted[]>>, integer by painter and text

--- The highlights of lines.
---@param lines string[]
---@param painter hashline.Painter
---@return table<integer, hashline.Painted[]> by line
function M.of(lines, painter)
  local text = table.concat(lines, "\n")
  local key = ("%s %s\n%s"):format(painter.find == by_parser and "parser" or "syntax", painter.name, text)
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
  -- A query that was written for another version of the parser fails, and a syntax may, too.
  local ok, painted = pcall(painter.find, lines, painter.name)
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
