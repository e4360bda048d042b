--- What the review says: the lines of files and hunks, and of what kind each is.
local config = require("hashline.config")
local hunks = require("hashline.hunks")
local progress = require("hashline.progress")
local virtual = require("hashline.virtual")

local M = {}

local BAR = "▎ "
local CONTEXT = 2 -- lines before and after a hunk
local MOST_LINES = 20 -- of a hunk that was not opened
local MOST_BYTES = 2 * 1024 * 1024 -- of a file that lines are taken from

--- What stands before a line of each kind.
M.prefixes = { context = "  ", removed = "- ", added = "+ ", conflicting = "! " }

--- Gives lines of a text, from and up to which is said as for nvim_buf_get_lines().
---@alias hashline.review.Reader fun(from: integer, to: integer): string[]

local files = {} ---@type table<string, { stamp: string, lines: string[] }> that are not open, by path

---@param path string
---@return string[]
local function lines_of_file(path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= "file" or stat.size > MOST_BYTES then
    return {}
  end
  local stamp = ("%d %d %d"):format(stat.size, stat.mtime.sec, stat.mtime.nsec)
  local known = files[path]
  if not known or known.stamp ~= stamp then
    local file = io.open(path, "rb")
    local bytes = file and file:read("*a") or ""
    if file then
      file:close()
    end
    known = { stamp = stamp, lines = vim.split(bytes:gsub("\r\n", "\n"), "\n", { plain = true }) }
    if known.lines[#known.lines] == "" then
      table.remove(known.lines)
    end
    files[path] = known
  end
  return known.lines
end

--- Forgets the files that were read.
function M.forget()
  files = {}
end

--- The text that the places of a document's hunks belong to: in its buffer, or on the disk.
---@param document hashline.Document
---@return hashline.review.Reader
function M.reader(document)
  local buf = document.buf
  if buf and vim.api.nvim_buf_is_loaded(buf) then
    return function(from, to)
      return vim.api.nvim_buf_get_lines(buf, math.max(from, 0), math.max(to, 0), false)
    end
  end
  local lines = vim.startswith(document.uri, "file:") and lines_of_file(vim.uri_to_fname(document.uri)) or {}
  return function(from, to)
    return vim.list_slice(lines, math.max(from, 0) + 1, to)
  end
end

--- The hunk about the file itself, if there is one to be told of.
---@param section hashline.review.Section
---@return hashline.Hunk?
local function of_file(section)
  for _, item in ipairs(section.items) do
    if hunks.is_of_file(item.entry.hunk) and item.outcome ~= "rejected" then
      return item.entry.hunk
    end
  end
end

--- A file: what it is called and what becomes of it, how large its hunks are, how many are left; and its folder.
---@param section hashline.review.Section
---@return string
---@return string folder "" where it is that of the project
function M.file(section)
  local document = section.document
  local path = document.key
  local change = of_file(section)
  local title = change and hunks.file_title(change, path) or vim.fs.basename(path)
  local size = hunks.size_of_all(vim.tbl_map(function(item)
    return item.entry.hunk
  end, section.items))
  local parts = { size ~= "" and title .. " " .. size or title }
  parts[#parts + 1] = section.left > 0 and section.left .. " left" or "decided"
  if document.read_only then
    parts[#parts + 1] = "decided in " .. (document.owner or "another editor")
  end
  local folder = vim.fn.fnamemodify(vim.fs.dirname(path), ":~:.")
  if folder == vim.fn.fnamemodify(vim.fn.getcwd(), ":~") then
    folder = ""
  end
  return vim.fn.strtrans(table.concat(parts, " · ")), vim.fn.strtrans(folder)
end

--- An agent, and the number of its turn where turns are told apart.
---@param group hashline.review.Group
---@param number integer?
---@return string
function M.name(group, number)
  return vim.fn.strtrans(group.agent) .. (number and (" · turn %d"):format(number) or "")
end

--- How much there is: "12 hunks in 5 files, 1 conflicted · 3 decided".
---@param counts hashline.review.Counts
---@return string
function M.totals(counts)
  local conflicted = counts.conflicted > 0 and (", %d conflicted"):format(counts.conflicted) or ""
  local decided = counts.decided > 0 and (" · %d decided"):format(counts.decided) or ""
  return ("%s in %s%s%s"):format(
    progress.counted(counts.hunks, "hunk"),
    progress.counted(counts.files, "file"),
    conflicted,
    decided
  )
end

--- The same with how much is in it.
---@param group hashline.review.Group
---@param number integer?
---@param counts hashline.review.Counts
---@return string
function M.group(group, number, counts)
  return ("%s · %s"):format(M.name(group, number), M.totals(counts))
end

--- The line that introduces a hunk.
---@param item hashline.review.Item
---@return string
local function heading(item)
  local hunk, lines = item.entry.hunk, item.entry.lines
  local parts = {}
  if hunks.is_of_file(hunk) then
    parts[1] = vim.fn.strtrans((hunks.file_words(hunk, item.document.key)))
  else
    parts[1] = "#" .. hunk.number
    local is_known = item.document.version or not item.document.buf -- a file that was just opened has no places yet
    if not item.outcome then
      parts[2] = lines and hunks.where(lines) or is_known and "place lost" or nil
    end
    parts[#parts + 1] = hunks.size(hunk)
  end
  if item.outcome or hunk.deciding or not hunks.is_of_file(hunk) or not hunks.in_text(hunk) then
    parts[#parts + 1] = item.outcome or hunks.state_words(hunk)
  end
  local needs = not item.outcome and virtual.needs(item.entry, item.document)
  parts[#parts + 1] = needs and vim.fn.strtrans(needs) or nil
  local reason = hunks.reason(item.entry.edit)
  parts[#parts + 1] = reason and vim.fn.strtrans(reason) or nil
  local told = hunks.told(item.entry.hunk)
  parts[#parts + 1] = told and vim.fn.strtrans(told) or nil
  return BAR .. table.concat(parts, " · ")
end

---@param block hashline.review.Block
---@param kind string
---@param lines string[]
local function put(block, kind, lines)
  local prefix, all, kinds = M.prefixes[kind] or "", block.lines, block.kinds
  local count = #all
  for i, line in ipairs(lines) do
    -- A line break in a line is a NUL of the text, as in a buffer.
    all[count + i] = prefix .. (line:find("\n", 1, true) and line:gsub("\n", "\0") or line)
    kinds[count + i] = kind
  end
end

--- Lines around a hunk, from the first to the last that say something.
---@param lines string[]
---@param is_before boolean
---@return string[]
local function around(lines, is_before)
  local at = is_before and 1 or #lines
  while lines[at] and not lines[at]:find("%S") do
    table.remove(lines, at)
    at = is_before and 1 or #lines
  end
  return lines
end

--- The lines of a hunk, each with its kind: what goes, or what stands in the text against it, and what comes.
---@param hunk hashline.Hunk
---@param now string[] the lines that are where it is
---@param is_all boolean whether these are all of them
---@return "removed"|"conflicting" kind
---@return string[] old
---@return string[] new
local function sides_of(hunk, now, is_all)
  if hunks.in_text(hunk) then
    return "removed", hunk.removed, is_all and now or hunk.proposed
  elseif hunk.state == "conflicted" and #now > 0 then
    return "conflicting", now, hunk.proposed
  end
  return "removed", hunk.removed, hunk.proposed
end

--- Puts the beginning of some lines, and how many more there are.
---@param block hashline.review.Block
---@param kind string
---@param lines string[]
---@param most integer
local function put_beginning(block, kind, lines, most)
  if #lines <= most + 1 then -- one line takes no more room than what would tell of it
    return put(block, kind, lines)
  end
  put(block, kind, vim.list_slice(lines, 1, most))
  put(block, "more", { ("… %d more lines"):format(#lines - most) })
end

--- Puts the two sides of a hunk. Of a long one the beginnings, unless it was opened.
---@param block hashline.review.Block
---@param kind string of the old one
---@param old string[]
---@param new string[]
---@param is_open boolean
local function put_sides(block, kind, old, new, is_open)
  local most = is_open and #old + #new or math.min(config.get("max_lines"), MOST_LINES)
  local half = math.ceil(most / 2)
  put_beginning(block, kind, old, math.max(most - #new, half))
  put_beginning(block, "added", new, math.max(most - #old, half))
end

--- What a hunk's block was made of, beside its first line.
---@class hashline.review.MadeFrom
---@field hunk hashline.Hunk
---@field near string[] the lines of the text that are shown with it
---@field above integer how many of them come before it
---@field below integer where those begin that come behind it
---@field is_open boolean

---@param block hashline.review.Block?
---@param made_from hashline.review.MadeFrom
---@return boolean
local function is_made_from(block, made_from)
  local before = block and block.made_from
  return before ~= nil
    and before.is_open == made_from.is_open
    and before.above == made_from.above
    and before.below == made_from.below
    and hunks.are_alike(before.hunk, made_from.hunk)
    and hunks.are_equal(before.near, made_from.near)
end

--- A hunk as a block: one line when it is decided, or its lines where it was opened; else with its lines and some around them.
---@param item hashline.review.Item
---@param reader hashline.review.Reader
---@param is_open boolean whether all of a long one is shown
---@param from integer the first line of the text that is not shown above
---@param to number where the next hunk begins
---@param shown table<string, hashline.review.Block> by id: one that would be made again as it is stays
---@return hashline.review.Block
---@return integer from for the next one
function M.hunk(item, reader, is_open, from, to, shown)
  local entry = item.entry
  local hunk, lines = entry.hunk, entry.lines
  ---@type hashline.review.Block
  local block = {
    id = item.section.id .. "\n" .. item.name,
    lines = {},
    kinds = {},
    row = 0,
    item = item,
    section = item.section,
  }
  local title, made_from = heading(item), nil
  if not item.outcome and not hunks.is_of_file(hunk) and lines then
    local first = math.max(math.min(lines.start, math.max(lines.start - CONTEXT, from)), 0)
    from = math.max(math.min(lines["end"] + CONTEXT, to), lines["end"]) --[[@as integer]]
    made_from = {
      hunk = hunk,
      near = reader(first, from),
      above = lines.start - first,
      below = lines["end"] - first,
      is_open = is_open,
    }
    block.made_from = made_from
    local known = shown[block.id]
    if is_made_from(known, made_from) then
      if known.lines[1] == title then
        known.item, known.section, known.made_from = item, item.section, made_from
        return known, from
      end
      -- It has another place in the text, and nothing else has changed.
      block.lines, block.kinds = vim.list_slice(known.lines), known.kinds
      block.lines[1] = title
      return block, from
    end
  end
  local is_conflict = hunk.state == "conflicted" and not item.outcome
  put(block, item.outcome and "decided" or is_conflict and "conflict" or "heading", { title })
  if item.outcome then
    if is_open then
      put_sides(block, "removed", hunk.removed, hunk.proposed, true)
    end
    return block, from
  end
  if is_conflict then
    put(
      block,
      "conflict",
      { BAR .. "Conflict: " .. vim.fn.strtrans(hunk.conflict or "you changed these lines") }
    )
  end
  if hunks.is_of_file(hunk) then
    return block, from
  end
  if not made_from then
    local kind, old, new = sides_of(hunk, {}, false)
    put_sides(block, kind, old, new, is_open)
    return block, from
  end
  local near, above, below = made_from.near, made_from.above, made_from.below
  local now = vim.list_slice(near, above + 1, below)
  local kind, old, new = sides_of(hunk, now, #now == below - above)
  put(block, "context", around(vim.list_slice(near, 1, above), true))
  put_sides(block, kind, old, new, is_open)
  put(block, "context", around(vim.list_slice(near, below + 1), false))
  return block, from
end

return M
