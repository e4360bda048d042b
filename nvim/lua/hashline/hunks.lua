--- Pure helpers on the hunks of one document: which are shown, where they are, which one is meant.
local M = {}

--- A hunk with what is needed to draw, name and decide it: one that is to be decided, or any of a history.
---@class hashline.Entry
---@field name string EDIT:NUMBER
---@field edit hashline.Edit
---@field hunk hashline.Hunk
---@field lines hashline.Lines? where it is now: a copy, moved along with the typing
---@field spans [table<integer, hashline.Span[]>, table<integer, hashline.Span[]>]? what differs inside its lines, once it was asked for

--- One that has a place in the text.
---@class hashline.PlacedEntry : hashline.Entry
---@field lines hashline.Lines

--- Why an edit was made, as its agent says.
---@param edit hashline.Edit
---@return string?
function M.reason(edit)
  return edit.reason ~= vim.NIL and edit.reason or nil
end

--- What the agent was told about a hunk.
---@param hunk hashline.Hunk
---@return string?
function M.told(hunk)
  local reason = hunk.reason
  return reason and reason ~= vim.NIL and ('told "%s"'):format(reason) or nil
end

--- Whether a hunk is about the file itself.
---@param hunk hashline.Hunk
---@return boolean
function M.is_of_file(hunk)
  return hunk.file ~= nil and hunk.file ~= vim.NIL
end

--- Whether a hunk makes the file that it is in.
---@param hunk hashline.Hunk
---@return boolean
function M.makes_file(hunk)
  return hunk.file == "make the file"
end

--- What a hunk does to the file itself: what has become of the file, or would.
---@param hunk hashline.Hunk
---@param path string of the file, as it is called now
---@return string words
---@return boolean has_name whether they say which file it is
function M.file_words(hunk, path)
  local is_done = M.in_text(hunk)
  local file = hunk.file --[[@as string]]
  local new = file:match("^rename the file to (.+)$")
  if M.makes_file(hunk) then
    return is_done and "created" or "to be created", false
  elseif file == "remove the file" then
    return is_done and "deleted" or "to be deleted", false
  elseif not new then
    return file, false
  elseif is_done or new == path then
    return "renamed", false -- the sidecar does not say what it was called
  end
  local old, new_name = vim.fs.basename(path), vim.fs.basename(new)
  return ("%s → %s"):format(old, new_name ~= old and new_name or vim.fn.fnamemodify(new, ":~:.")), true
end

--- The same with the name of the file.
---@param hunk hashline.Hunk
---@param path string of the file, as it is called now
---@return string
function M.file_title(hunk, path)
  local words, has_name = M.file_words(hunk, path)
  return has_name and words or vim.fs.basename(path) .. " " .. words
end

--- Whether a conflicted hunk can only be rejected: its place is lost, for instance. An older sidecar does not say so.
---@param hunk hashline.Hunk
---@return boolean
function M.is_past_taking(hunk)
  local ways = hunk.ways
  return hunk.state == "conflicted" and type(ways) == "table" and not vim.list_contains(ways, "takeTheirs")
end

--- The undecided hunks in text order; what is about the file itself stands before its first line; those without a place come last. Parts of another hunk are left out: they are shown
--- and decided with it.
---@param edits hashline.Edit[]
---@return hashline.Entry[]
function M.entries(edits)
  local entries = {}
  for _, edit in ipairs(edits) do
    for _, hunk in ipairs(edit.hunks) do
      local alone = not hunk.partOf or hunk.partOf == vim.NIL
      local lines = M.is_of_file(hunk) and { start = 0, ["end"] = 0 } or hunk.lines
      if alone and hunk.state ~= "withdrawn" and (hunk.decision == "undecided" or hunk.deciding) then
        entries[#entries + 1] = {
          name = edit.id .. ":" .. hunk.number,
          edit = edit,
          hunk = hunk,
          lines = lines and { start = lines.start, ["end"] = lines["end"] },
          order = #entries,
        }
      end
    end
  end
  table.sort(entries, function(a, b)
    if (a.lines == nil) ~= (b.lines == nil) then
      return b.lines == nil
    elseif a.lines and a.lines.start ~= b.lines.start then
      return a.lines.start < b.lines.start
    end
    return a.order < b.order
  end)
  return entries
end

--- Moves lines along with a change that turned the lines first..last into first..new_last.
---@param lines hashline.Lines changed in place
---@param first integer
---@param last integer
---@param new_last integer
function M.shift(lines, first, last, new_last)
  local from, to = lines.start, lines["end"]
  local delta = new_last - last
  -- Lines typed right at a place come before it, as they do for the sidecar: Neovim tells it that they were put behind the
  -- line before. At the beginning there is none.
  local is_place = from == to
  if from >= last and not (is_place and from == 0) then
    lines.start, lines["end"] = from + delta, to + delta
  elseif to > first then
    lines.start = from <= first and from or math.min(from, new_last)
    lines["end"] = math.max(lines.start, to >= last and to + delta or math.min(to, new_last))
  end
end

--- Moves lines along with some of the changes, which were made from the end of the text to its beginning.
---@param lines hashline.Lines changed in place
---@param changes hashline.Change[]
---@param first integer the first of them
---@param last integer the last
---@param below table<integer, integer> how far what is behind a change moves with that and the later ones
local function shift_along(lines, changes, first, last, below)
  -- Those behind these lines do not matter.
  local at, beyond = first, last + 1
  while at < beyond do
    local middle = math.floor((at + beyond) / 2)
    local change = changes[middle]
    if change.first < lines["end"] or change.last <= lines.start then
      beyond = middle
    else
      at = middle + 1
    end
  end
  while at <= last and (lines.start < changes[at].last or lines["end"] == 0) do
    M.shift(lines, changes[at].first, changes[at].last, changes[at].new_last)
    at = at + 1
  end
  lines.start, lines["end"] = lines.start + below[at], lines["end"] + below[at]
end

--- Moves entries along with changes, one after the other. Many that were made from the end of the text to its beginning, as those of
--- a delivery are, take hardly more time than one.
---@param entries hashline.Entry[] changed in place
---@param changes hashline.Change[]
function M.shift_all(entries, changes)
  local first = 1
  for last, change in ipairs(changes) do
    local following = changes[last + 1]
    -- Lines typed at the very beginning leave alone what has come to be a place there.
    if not following or following.last > change.first or following.last == 0 then
      local below = { [last + 1] = 0 }
      for at = last, first, -1 do
        below[at] = below[at + 1] + changes[at].new_last - changes[at].last
      end
      for _, entry in ipairs(entries) do
        if entry.lines then
          shift_along(entry.lines, changes, first, last, below)
        end
      end
      first = last + 1
    end
  end
end

--- Whether the proposed lines stand in the text.
---@param hunk hashline.Hunk
function M.in_text(hunk)
  return hunk.state == "inText" or hunk.state == "edited"
end

---@param one any[]?
---@param other any[]?
---@return boolean
function M.are_equal(one, other)
  one, other = one or {}, other or {}
  for i = 1, math.max(#one, #other) do
    if one[i] ~= other[i] then
      return false
    end
  end
  return true
end

--- Whether two hunks look alike, wherever they are. Asked of all of them whenever a list comes, so nothing is made for it.
---@param one hashline.Hunk
---@param other hashline.Hunk
---@return boolean
function M.are_alike(one, other)
  return one.state == other.state
    and one.deciding == other.deciding
    and one.conflict == other.conflict
    and one.file == other.file
    and M.are_equal(one.proposed, other.proposed)
    and M.are_equal(one.removed, other.removed)
    and one.reason == other.reason
    and M.are_equal(one.ways, other.ways)
end

--- The row that stands for a hunk: its first line, or the line above the place of an insertion.
---@param lines hashline.Lines
---@return integer row 0-based
function M.row(lines)
  if lines.start == lines["end"] then
    return math.max(lines.start - 1, 0)
  end
  return lines.start
end

--- The hunk that is meant by a row: one that has it, else one that is shown beside it.
---@param entries hashline.Entry[]
---@param row integer 0-based
---@return hashline.Entry?
function M.at(entries, row)
  local beside, below
  for _, entry in ipairs(entries) do
    local lines = entry.lines
    if lines then
      if lines.start <= row and row < lines["end"] then
        return entry
      elseif lines.start == lines["end"] then
        if M.row(lines) == row then
          beside = beside or entry
        elseif lines.start == row then
          below = below or entry
        end
      end
    end
  end
  return beside or below
end

--- The hunks that touch the rows first..last (exclusive).
---@param entries hashline.Entry[]
---@param first integer
---@param last integer
---@return hashline.Entry[]
function M.touching(entries, first, last)
  return vim.tbl_filter(function(entry)
    local lines = entry.lines
    if not lines then
      return false
    elseif lines.start == lines["end"] then
      return first <= lines.start and lines.start <= last
    end
    return lines.start < last and first < lines["end"]
  end, entries)
end

--- The position of the hunk to go to from a row. Beyond the first or the last it goes on to those of other files.
---@param entries hashline.Entry[] of one document
---@param row integer 0-based
---@param count integer how many hunks on; negative: back
---@param from hashline.Entry? the hunk that is meant there
---@return integer
function M.onward(entries, row, count, from)
  -- Several hunks may share a row: from one of them it goes by their order.
  for i, entry in ipairs(entries) do
    if entry == from and (not entry.lines or M.row(entry.lines) == row) then
      return i + count
    end
  end
  local passed = 0
  for _, entry in ipairs(entries) do
    local own = entry.lines and M.row(entry.lines)
    if own and (own < row or (own == row and count > 0)) then
      passed = passed + 1
    end
  end
  return count > 0 and passed + count or passed + 1 + count
end

--- How large hunks are together, as in "+2 -1".
---@param all hashline.Hunk[]
---@return string
function M.size_of_all(all)
  local more, less, parts = 0, 0, {}
  for _, hunk in ipairs(all) do
    more, less = more + #hunk.proposed, less + #hunk.removed
  end
  if more > 0 then
    parts[#parts + 1] = "+" .. more
  end
  if less > 0 then
    parts[#parts + 1] = "-" .. less
  end
  return table.concat(parts, " ")
end

--- How large a hunk is, likewise.
---@param hunk hashline.Hunk
---@return string
function M.size(hunk)
  return M.size_of_all({ hunk })
end

--- The first line of a hunk that says something.
---@param hunk hashline.Hunk
---@return string?
function M.sample(hunk)
  for _, line in ipairs(#hunk.proposed > 0 and hunk.proposed or hunk.removed) do
    if line:find("%S") then
      return vim.trim(line)
    end
  end
end

local STATES = { held = "held", inText = "in the text", edited = "changed by you", conflicted = "conflicted" }

--- How a hunk stands, in words.
---@param hunk hashline.Hunk
---@return string
function M.state_words(hunk)
  return hunk.deciding and "deciding…" or STATES[hunk.state] or hunk.state
end

--- What a hunk is called, and how many are left with it.
---@param hunk hashline.Hunk
---@param left integer
---@return string
function M.label(hunk, left)
  return ("#%d · %d left"):format(hunk.number, left)
end

--- Where a hunk is, in words.
---@param lines hashline.Lines
---@return string
function M.where(lines)
  local from, to = lines.start, lines["end"]
  if from == to then
    return from == 0 and "before line 1" or "after line " .. from
  end
  return to - from == 1 and "line " .. to or ("lines %d to %d"):format(from + 1, to)
end

--- What becomes of a file, and what can be done about it.
---@param hunk hashline.Hunk
---@param path string of the file, as it is called now
---@return string
function M.file_line(hunk, path)
  local verbs = M.in_text(hunk) and "keep or undo"
    or M.is_past_taking(hunk) and "reject"
    or "accept or reject"
  return (M.file_words(hunk, path)) .. ": " .. verbs
end

return M
