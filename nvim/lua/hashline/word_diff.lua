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

--- The bytes that some of the pieces take.
---@param parts string[]
---@param first integer 1-based
---@param beyond integer
---@return hashline.Span?
local function span(parts, first, beyond)
  if first == beyond then
    return nil
  end
  local from = #table.concat(parts, "", 1, first - 1)
  return { from, from + #table.concat(parts, "", first, beyond - 1) }
end

--- What changed between two lists of pieces. Changes with one character between them are one: 3.14 becomes Math.PI as a whole.
---@param a string[]
---@param b string[]
---@return { a: [integer, integer], b: [integer, integer] }[] each the first piece and that beyond the last
local function changes(a, b)
  local found = {}
  local compared =
    diff(table.concat(a, "\n") .. "\n", table.concat(b, "\n") .. "\n", { result_type = "indices" })
  for _, change in
    ipairs(compared --[[@as integer[][] ]])
  do
    local gone, come = change[2], change[4]
    -- Where nothing goes or comes, what is named is the piece before.
    local gone_at = change[1] + (gone == 0 and 1 or 0) --[[@as integer]]
    local come_at = change[3] + (come == 0 and 1 or 0) --[[@as integer]]
    local last = found[#found]
    if last and vim.fn.strchars(table.concat(a, "", last.a[2], gone_at - 1)) == 1 then
      last.a[2], last.b[2] = gone_at + gone, come_at + come
    else
      found[#found + 1] = { a = { gone_at, gone_at + gone }, b = { come_at, come_at + come } }
    end
  end
  return found
end

-- Of a line of which more than this changed, words that stayed by chance say nothing: it is marked as a whole.
local MOST_CHANGED = 0.6

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
  local in_old, in_new, changed = {}, {}, 0
  for _, change in ipairs(changes(a, b)) do
    local gone, come = span(a, unpack(change.a)), span(b, unpack(change.b))
    in_old[#in_old + 1] = gone
    in_new[#in_new + 1] = come
    changed = changed + (gone and gone[2] - gone[1] or 0) + (come and come[2] - come[1] or 0)
  end
  if changed > MOST_CHANGED * (#old + #new) then
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
