--- The virtual lines of a hunk: its heading, and the text that is not in the buffer.
local config = require("hashline.config")
local hunks = require("hashline.hunks")
local syntax = require("hashline.syntax")
local words = require("hashline.word_diff")

local M = {}

--- How the windows of a buffer show lines.
---@class hashline.Look
---@field width integer of the screen
---@field room integer for text, in the narrowest of the windows
---@field height integer of the tallest of the windows
---@field wraps boolean
---@field tabstop integer
---@field painter hashline.Painter? of what they say
---@field keys table<string, string> by action

--- A piece of text as it is shown: tabs as blanks, what cannot be printed as Neovim writes it.
---@param text string
---@param column integer where it begins
---@param tabstop integer
---@return string
local function printable(text, column, tabstop)
  if not text:find("[%c\128-\255]") then
    return text
  end
  local out = {}
  local at = column
  for part, tab in text:gmatch("([^\t]*)(\t?)") do
    local shown = vim.fn.strtrans(part)
    at = at + vim.api.nvim_strwidth(shown)
    out[#out + 1] = shown
    if tab ~= "" then
      local width = tabstop - at % tabstop
      out[#out + 1] = (" "):rep(width)
      at = at + width
    end
  end
  return table.concat(out)
end

--- Cuts a text so that each piece fits a width.
---@param text string printable
---@param room integer of the first piece
---@param width integer of the others
---@return string[]
local function cut(text, room, width)
  local pieces = {}
  while vim.api.nvim_strwidth(text) > room do
    local count = room
    while vim.api.nvim_strwidth(vim.fn.strcharpart(text, 0, count)) > room do
      count = count - 1
    end
    pieces[#pieces + 1] = vim.fn.strcharpart(text, 0, count)
    text = vim.fn.strcharpart(text, count)
    room = width
  end
  pieces[#pieces + 1] = text
  return pieces
end

--- A line in parts that have the same highlights each.
---@param text string
---@param spans hashline.Span[] of changed words
---@param base string highlight
---@param emphasis string highlight of the spans
---@param painted hashline.Painted[]
---@return { [1]: string, [2]: string|string[] }[]
local function chunks(text, spans, base, emphasis, painted)
  local edges = { 0, #text }
  for _, part in ipairs(spans) do
    vim.list_extend(edges, { part[1], part[2] })
  end
  for _, part in ipairs(painted) do
    vim.list_extend(edges, { part[1], part[2] })
  end
  table.sort(edges)
  local found, at, in_span, in_painted = {}, 0, 1, 1
  for _, edge in ipairs(edges) do
    if edge > at then
      while spans[in_span] and spans[in_span][2] <= at do
        in_span = in_span + 1
      end
      while painted[in_painted] and painted[in_painted][2] <= at do
        in_painted = in_painted + 1
      end
      local span, colour = spans[in_span], painted[in_painted]
      local behind = span and span[1] <= at and emphasis or base
      local group = colour and colour[1] <= at and { behind, colour[3] } or behind
      found[#found + 1] = { text:sub(at + 1, edge), group }
      at = edge
    end
  end
  return found
end

--- One line of text as virtual lines, wrapped where windows wrap.
---@param text string
---@param spans hashline.Span[]
---@param base string highlight
---@param emphasis string highlight of the spans
---@param painted hashline.Painted[]
---@param look hashline.Look
---@return [string, string|string[]][][]
local function text_lines(text, spans, base, emphasis, painted, look)
  local lines, line, column, total = {}, {}, 0, 0
  for _, chunk in ipairs(chunks(text, spans, base, emphasis, painted)) do
    local shown = printable(chunk[1], total, look.tabstop)
    total = total + vim.api.nvim_strwidth(shown)
    for i, part in ipairs(look.wraps and cut(shown, look.room - column, look.room) or { shown }) do
      if i > 1 then
        lines[#lines + 1], line, column = line, {}, 0
      end
      line[#line + 1] = { part, chunk[2] }
      column = column + vim.api.nvim_strwidth(part)
    end
  end
  lines[#lines + 1] = line
  -- The colour goes to the edge of the window, as that of highlighted lines does.
  for _, made in ipairs(lines) do
    local used = 0
    for _, chunk in ipairs(made) do
      used = used + vim.api.nvim_strwidth(chunk[1])
    end
    made[#made + 1] = { (" "):rep(math.max(look.width - used, 1)), base }
  end
  return lines
end

local BAR = "▎ "

--- Lines of a heading: pieces with dots between them, as many on a line as fit. A piece that is too long for a line is broken
--- between its words.
---@param pieces [string, string][] text and highlight
---@param bar string highlight
---@param room integer
---@return [string, string][][]
local function fill(pieces, bar, room)
  local lines, used = {}, 0
  local indent = vim.api.nvim_strwidth(BAR)
  local function put(text, group, between)
    local width = vim.api.nvim_strwidth(between .. text)
    if used > 0 and used + width <= room then
      table.insert(lines[#lines], { between .. text, group })
      used = used + width
      return
    end
    for _, part in ipairs(cut(text, room - indent, room - indent)) do
      lines[#lines + 1] = { { BAR, bar }, { part, group } }
      used = indent + vim.api.nvim_strwidth(part)
    end
  end
  for _, piece in ipairs(pieces) do
    local text, group = vim.fn.strtrans(piece[1]), piece[2]
    if vim.api.nvim_strwidth(text) <= room - indent then
      put(text, group, " · ")
    else
      used = 0 -- on a line of its own
      for word in text:gmatch("%S+") do
        put(word, group, " ")
      end
    end
  end
  return lines
end

--- What a person can do with a hunk: by which key, or by which command where there is none.
---@param keys table<string, string> by action
---@param accept string what it is called
---@param reject string
---@return string
local function ways_on(keys, accept, reject)
  if not keys.Accept and not keys.Reject then
    return (":Hashline %s | %s"):format(accept, reject)
  end
  local by_accept = keys.Accept and keys.Accept .. " " or ":Hashline "
  local by_reject = keys.Reject and keys.Reject .. " " or ":Hashline "
  return ("%s%s · %s%s"):format(by_accept, accept, by_reject, reject)
end

--- What a person can do with a hunk, in the words that fit its state.
---@param entry hashline.Entry
---@param document hashline.Document
---@param keys table<string, string> by action
---@return string
function M.hint(entry, document, keys)
  if document.read_only then
    return "decided in " .. (document.owner or "another editor")
  elseif entry.hunk.deciding then
    return "deciding…"
  elseif hunks.is_past_taking(entry.hunk) then
    return ("Conflict: %s"):format(keys.Reject and keys.Reject .. " reject" or ":Hashline reject")
  elseif entry.hunk.state == "conflicted" then
    return ("Conflict: %s to choose"):format(keys.Accept or ":Hashline accept")
  elseif hunks.in_text(entry.hunk) then
    return ways_on(keys, "keep", "undo")
  end
  return ways_on(keys, "accept", "reject")
end

--- What has to be accepted with a hunk, in words.
---@param entry hashline.Entry
---@param document hashline.Document
---@return string?
function M.needs(entry, document)
  local names, needed = entry.hunk.dependsOn or {}, {}
  for _, other in ipairs(#names > 0 and document.entries or {}) do
    if vim.list_contains(names, other.name) then
      local whose = other.edit.id ~= entry.edit.id and (" of " .. other.edit.agent) or ""
      needed[#needed + 1] = ("#%d%s"):format(other.hunk.number, whose)
    end
  end
  return #needed > 0 and "needs " .. table.concat(needed, ", ") or nil
end

---@param entry hashline.Entry
---@param document hashline.Document
---@param look hashline.Look
---@return [string, string][][]
local function heading(entry, document, look)
  local hunk = entry.hunk
  local group = hunk.state == "conflicted" and "HashlineHeaderConflict" or "HashlineHeader"
  local parts = { entry.edit.agent }
  if hunks.is_of_file(hunk) then
    parts[#parts + 1] = hunks.file_words(hunk, document.key)
  else
    vim.list_extend(parts, { hunks.label(hunk, #document.entries), hunks.size(hunk) })
  end
  if hunk.state == "edited" then
    parts[#parts + 1] = "you changed it"
  end
  parts[#parts + 1] = M.needs(entry, document)
  parts[#parts + 1] = hunks.reason(entry.edit)
  parts[#parts + 1] = hunks.told(entry.hunk)
  local pieces = vim.tbl_map(function(part)
    return { part, group }
  end, parts)
  local ways = {}
  local is_elsewhere = document.read_only or hunk.deciding
  if hunk.state == "conflicted" and (is_elsewhere or not config.get("hints")) then
    ways[#ways + 1] = { "Conflict", group } -- else the hint says so
  end
  if is_elsewhere or config.get("hints") then
    ways[#ways + 1] = { M.hint(entry, document, look.keys), "HashlineHint" }
  end
  if hunk.state ~= "conflicted" then
    return fill(vim.list_extend(pieces, ways), group, look.room)
  end
  -- First why, then what can be done about it.
  local lines = fill(pieces, group, look.room)
  vim.list_extend(lines, fill(hunk.conflict and { { hunk.conflict, group } } or {}, group, look.room))
  return vim.list_extend(lines, fill(ways, group, look.room))
end

---@param entry hashline.Entry
---@param document hashline.Document
---@param look hashline.Look
---@return [string, string][][]
function M.lines(entry, document, look)
  local hunk = entry.hunk
  local in_text = hunks.in_text(hunk)
  local absent = in_text and hunk.removed or hunk.proposed
  local base = in_text and "HashlineRemoved" or "HashlineAdded"
  local in_removed, in_proposed = words.of(entry)
  local spans = in_text and in_removed or in_proposed
  local lines = heading(entry, document, look)
  -- Neovim scrolls past virtual lines that do not fit into the window: they would never be seen.
  local room, most, body = math.max(look.height - 2 - #lines, 3), config.get("max_lines"), {}
  local painted = look.painter and syntax.of(vim.list_slice(absent, 1, math.min(room, most)), look.painter)
    or {}
  for i, text in ipairs(absent) do
    local made = text_lines(text, spans[i] or {}, base, base .. "Word", painted[i] or {}, look)
    local is_last = i == #absent
    if i > most or #body + #made > room - (is_last and 0 or 1) then
      local left = #absent - i + 1
      local more = ("… %d more line%s, :Hashline diff shows all"):format(left, left == 1 and "" or "s")
      vim.list_extend(body, fill({ { more, "HashlineHeader" } }, "HashlineHeader", look.room))
      break
    end
    vim.list_extend(body, made)
  end
  vim.list_extend(lines, body)
  return lines
end

return M
