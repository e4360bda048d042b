--- What the sidecar has said is pending, document by document, and where it is in the buffers now.
---
--- The line numbers of a list belong to the document version that it names. What was typed since is
--- known here (`changes`), so a list for an older version is brought to the text as it is now, and
--- what is shown moves with the typing until the next list comes.
local hunks = require("hashline.hunks")

local M = {}

---@class hashline.Document
---@field uri string as the sidecar writes it
---@field key string
---@field version integer? of the newest list
---@field owner string?
---@field read_only boolean
---@field edits hashline.Edit[]
---@field entries hashline.Entry[]
---@field client_id integer
---@field buf integer? the buffer that shows it

---@class hashline.Change
---@field version integer
---@field first integer
---@field last integer
---@field new_last integer

---@class hashline.Attached
---@field key string
---@field name string of the buffer, whose document this is only under this name
---@field changes hashline.Change[] since the newest list, oldest first
---@field known_from integer changes after this version are all in `changes`
---@field held hashline.Change[]? changes that what is shown has yet to move along with

local MOST_CHANGES = 1000

local documents = {} ---@type table<string, hashline.Document> by key
local attached = {} ---@type table<integer, hashline.Attached> by buffer
local subscribers = {} ---@type fun(document: hashline.Document)[]
local followers = {} ---@type fun(buf: integer)[]

--- Two spellings of a URI are one document: files go by their path, with links followed.
---@param uri string
---@return string
function M.key(uri)
  if not vim.startswith(uri, "file:") then
    return uri
  end
  local path = vim.fs.normalize(vim.uri_to_fname(uri))
  local real = vim.uv.fs_realpath(path)
  if real then
    return real
  end
  -- A file that is not written yet: it will be where its folder is.
  local folder = vim.uv.fs_realpath(vim.fs.dirname(path))
  return folder and vim.fs.joinpath(folder, vim.fs.basename(path)) or path
end

--- Calls back after each change of what is pending in a document.
---@param callback fun(document: hashline.Document)
function M.subscribe(callback)
  subscribers[#subscribers + 1] = callback
end

--- Calls back soon after lines were typed right where a hunk is to be inserted: what is drawn beside the line before has
--- to move to the line that is before it now.
---@param callback fun(buf: integer)
function M.follow(callback)
  followers[#followers + 1] = callback
end

---@param document hashline.Document
local function publish(document)
  for _, callback in ipairs(subscribers) do
    callback(document)
  end
end

--- The version of a buffer as LSP counts it. (b:changedtick runs ahead of it after an undo.)
---@param buf integer
---@return integer
function M.buffer_version(buf)
  return vim.lsp.util.buf_versions[buf] or 0
end

---@param buffer hashline.Attached
---@param version integer
---@return hashline.Change[] made after it
local function since(buffer, version)
  return vim.tbl_filter(function(change)
    return change.version > version
  end, buffer.changes)
end

--- Brings the entries from the list's version to the text as it is now.
---@param document hashline.Document
---@param shown table<string, hashline.Lines> what was shown before, by name
local function place(document, shown)
  local buffer = document.buf and attached[document.buf]
  if not buffer then
    return
  end
  if not document.version then
    for _, entry in ipairs(document.entries) do
      entry.lines = nil
    end
    return
  end
  if document.version >= buffer.known_from then
    hunks.shift_all(document.entries, since(buffer, document.version))
    return
  end
  for _, entry in ipairs(document.entries) do
    entry.lines = shown[entry.name]
  end
end

---@param buf integer
---@return hashline.Attached?
local function known(buf)
  local buffer = attached[buf]
  return buffer and buffer.name == vim.api.nvim_buf_get_name(buf) and buffer or nil
end

---@param key string
---@return integer? buf
local function buffer_of(key)
  for buf, buffer in pairs(attached) do
    if buffer.key == key and known(buf) then
      return buf
    end
  end
end

--- Takes in a list of the sidecar's.
---@param list hashline.PendingEdits
---@param client_id integer
function M.receive(list, client_id)
  local key = M.key(list.uri)
  local before = documents[key]
  local buf = buffer_of(key)
  if buf and not vim.lsp.buf_is_attached(buf, client_id) then
    return -- of a sidecar with a root around this one: that which has the buffer decides
  end
  if
    before
    and before.client_id == client_id
    and before.version
    and list.version
    and list.version < before.version
  then
    return -- older than what is shown
  end
  local shown = {}
  for _, entry in ipairs(before and before.entries or {}) do
    shown[entry.name] = entry.lines
  end
  ---@type hashline.Document
  local document = {
    uri = list.uri,
    key = key,
    version = list.version,
    owner = list.owner,
    read_only = list.readOnly == true,
    edits = list.edits,
    entries = hunks.entries(list.edits),
    client_id = client_id,
    buf = buf,
  }
  documents[key] = document
  place(document, shown)
  local buffer = document.buf and attached[document.buf]
  if buffer and document.version then
    buffer.changes = since(buffer, document.version)
  end
  if buffer and buffer.held then
    buffer.held = {} -- the list is for the text as it is now, or was brought there
  end
  publish(document)
  if #document.edits == 0 and not document.buf then
    documents[key] = nil
  end
end

--- A buffer is brought to the sidecar (or was reloaded): versions count anew.
---@param buf integer
function M.attach(buf)
  local key = M.key(vim.uri_from_bufnr(buf))
  if attached[buf] and attached[buf].key ~= key then
    M.detach(buf)
  end
  attached[buf] = { key = key, name = vim.api.nvim_buf_get_name(buf), changes = {}, known_from = 0 }
  local document = documents[key]
  if document then
    document.buf = buf
    document.version = nil
    place(document, {})
    publish(document)
  end
end

---@param buf integer
---@return boolean
function M.is_attached(buf)
  return attached[buf] ~= nil
end

--- The buffers that are brought to a sidecar.
---@return integer[]
function M.buffers()
  return vim.tbl_keys(attached)
end

---@param buf integer
function M.detach(buf)
  local buffer = attached[buf]
  if not buffer then
    return
  end
  local document = documents[buffer.key]
  attached[buf] = nil
  if document and document.buf == buf then
    document.buf = buffer_of(buffer.key)
    document.version = nil
    publish(document)
  end
end

--- What is shown moves along with changes that were just made.
---@param document hashline.Document
---@param changes hashline.Change[]
local function move(document, changes)
  local grown = {} ---@type table<integer, boolean> by the line behind lines that became more or fewer
  for _, change in ipairs(changes) do
    grown[change.last] = grown[change.last] or change.new_last ~= change.last
  end
  local at_a_place = false
  for _, entry in ipairs(document.entries) do
    local lines = entry.lines
    at_a_place = at_a_place or (lines and lines.start == lines["end"] and grown[lines.start]) or false
  end
  hunks.shift_all(document.entries, changes)
  local buf = document.buf
  if at_a_place and buf then
    -- The text may not be looked at yet.
    vim.schedule(function()
      for _, callback in ipairs(followers) do
        callback(buf)
      end
    end)
  end
end

--- A change of a buffer: what is shown moves along.
---@param buf integer
---@param change hashline.Change
function M.changed(buf, change)
  local buffer = attached[buf]
  if not buffer then
    return
  end
  local changes = buffer.changes
  changes[#changes + 1] = change
  if #changes > MOST_CHANGES then
    local kept = vim.list_slice(changes, MOST_CHANGES / 2 + 1)
    buffer.known_from = changes[MOST_CHANGES / 2].version
    buffer.changes = kept
  end
  local document = documents[buffer.key]
  if buffer.held then
    table.insert(buffer.held, change)
  elseif document then
    move(document, { change })
  end
end

--- What is shown moves along with the next changes only when all of them are made: with each by itself it would take time that grows
--- as their product.
---@param buf integer
---@return fun() move
function M.hold(buf)
  local buffer = attached[buf]
  if not buffer then
    return function() end
  end
  buffer.held = {}
  return function()
    local changes, document = buffer.held or {}, documents[buffer.key]
    buffer.held = nil
    if document and attached[buf] == buffer then
      move(document, changes)
    end
  end
end

--- The sidecar ended: nothing of what it said holds any longer.
---@param client_id integer
function M.forget(client_id)
  for key, document in pairs(documents) do
    if document.client_id == client_id then
      document.edits, document.entries, document.version = {}, {}, nil
      publish(document)
      documents[key] = nil
    end
  end
end

---@param buf integer
---@return hashline.Document?
function M.of_buffer(buf)
  local buffer = known(buf)
  return buffer and documents[buffer.key]
end

---@param uri string
---@return integer? buf
function M.buffer_of_uri(uri)
  return buffer_of(M.key(uri))
end

--- All documents with something to decide, by name.
---@return hashline.Document[]
function M.all()
  local found = {}
  for _, document in vim.spairs(documents) do
    if #document.entries > 0 then
      found[#found + 1] = document
    end
  end
  return found
end

--- Whether there is something to decide in any document.
---@return boolean
function M.has_any()
  for _, document in pairs(documents) do
    if #document.entries > 0 then
      return true
    end
  end
  return false
end

--- A hunk and the document that it is in.
---@class hashline.Place
---@field document hashline.Document
---@field entry hashline.Entry

--- All undecided hunks, document by document, in the order of the text.
---@return hashline.Place[]
function M.places()
  local found = {}
  for _, document in ipairs(M.all()) do
    for _, entry in ipairs(document.entries) do
      found[#found + 1] = { document = document, entry = entry }
    end
  end
  return found
end

---@param name string EDIT:NUMBER
---@return hashline.Place?
function M.named(name)
  for _, place in ipairs(M.places()) do
    if place.entry.name == name then
      return place
    end
  end
end

return M
