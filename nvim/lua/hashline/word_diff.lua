--- Which parts of a line changed, for a highlight inside replaced lines. Pure.
local M = {}

-- Beyond these a comparison costs more than it shows.
local LONGEST = 1000
local MOST_LINES = 100

---@diagnostic disable-next-line: deprecated
local diff = vim.text.diff or vim.diff -- its name before 0.12

---@class hashline.Span
---@field [1] integer first byte, 0-based
---@field [2] integer end byte, exclusive

--- Cuts a line into words, runs of blanks and single other characters.
---@param line string
---@return string[]
local function pieces(line)
  local found = {}
  local at = 1
  while at <= #line do
    local piece = line:match("^[%w_\128-\255]+", at) or line:match("^%s+", at) or line:sub(at, at)
    found[#found + 1] = piece
    at = at + #piece
  end
  return found
end

---@param parts string[]
---@param first integer 1-based
---@param count integer
---@return hashline.Span?
local function span(parts, first, count)
  if count == 0 then
    return nil
  end
  local from = 0
  for i = 1, first - 1 do
    from = from + #parts[i]
  end
  local to = from
  for i = first, first + count - 1 do
    to = to + #parts[i]
  end
  return { from, to }
end

--- The changed spans of two lines; none when they are equal or have too little in common.
---@param old string
---@param new string
---@return hashline.Span[] in_old
---@return hashline.Span[] in_new
function M.between(old, new)
  if old == new or old == "" or new == "" or #old > LONGEST or #new > LONGEST then
    return {}, {}
  end
  local a, b = pieces(old), pieces(new)
  local hunks =
    diff(table.concat(a, "\n") .. "\n", table.concat(b, "\n") .. "\n", { result_type = "indices" })
  local in_old, in_new, changed = {}, {}, 0
  for _, hunk in
    ipairs(hunks --[[@as integer[][] ]])
  do
    local gone, come = span(a, hunk[1], hunk[2]), span(b, hunk[3], hunk[4])
    in_old[#in_old + 1] = gone
    in_new[#in_new + 1] = come
    changed = changed + (gone and gone[2] - gone[1] or 0) + (come and come[2] - come[1] or 0)
  end
  if changed > 0.7 * (#old + #new) then
    return {}, {}
  end
  return in_old, in_new
end

--- The changed spans line by line. Lines stand against the lines that they resemble, where as many come as go.
---@param removed string[]
---@param proposed string[]
---@return table<integer, hashline.Span[]> in_removed by line
---@return table<integer, hashline.Span[]> in_proposed by line
function M.paired(removed, proposed)
  local in_removed, in_proposed = {}, {}
  if #removed == 0 or #proposed == 0 or math.max(#removed, #proposed) > MOST_LINES then
    return in_removed, in_proposed
  end
  local regions = diff(
    table.concat(removed, "\n") .. "\n",
    table.concat(proposed, "\n") .. "\n",
    { result_type = "indices", linematch = 2 * MOST_LINES }
  )
  for _, region in
    ipairs(regions --[[@as integer[][] ]])
  do
    local old, gone, new, come = unpack(region)
    for i = 0, gone == come and gone - 1 or -1 do
      in_removed[old + i], in_proposed[new + i] = M.between(removed[old + i], proposed[new + i])
    end
  end
  return in_removed, in_proposed
end

--- The changed spans of a hunk, compared once for each list: it is drawn again with every redraw.
---@param entry hashline.Entry
---@return table<integer, hashline.Span[]> in_removed by line
---@return table<integer, hashline.Span[]> in_proposed by line
function M.of(entry)
  if not entry.spans then
    entry.spans = { M.paired(entry.hunk.removed, entry.hunk.proposed) }
  end
  return entry.spans[1], entry.spans[2]
end

return M
