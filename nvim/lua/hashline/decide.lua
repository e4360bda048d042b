--- The person's decisions: what they are about, and how they are said to the sidecar.
local events = require("hashline.events")
local hunks = require("hashline.hunks")
local navigation = require("hashline.navigation")
local progress = require("hashline.progress")
local protocol = require("hashline.protocol")
local reasons = require("hashline.reasons")
local rejected = require("hashline.rejected")
local reopen = require("hashline.reopen")
local screens = require("hashline.screens")
local state = require("hashline.state")

local M = {}

---@alias hashline.Verb "accept"|"reject"|"comment"

--- What the person means by a decision.
---@class hashline.Scope
---@field range [integer, integer]? first and last line, 1-based
---@field whole_file boolean?
---@field conversation boolean? all that was done in the conversation of the hunk at the cursor, in whatever file
---@field reason string?
---@field ask_reason boolean? ask for the reason before it is decided

--- What a decision is about, as it is said to the sidecar, and the hunks that this means.
---@class hashline.Target
---@field client_id integer
---@field buf integer? where the person decided, if it is about one buffer
---@field fields hashline.Subject
---@field places hashline.Place[]

---@param message string
---@param level integer?
function M.say(message, level)
  vim.notify("hashline: " .. message, level or vim.log.levels.INFO)
end

---@param places hashline.Place[]
---@return string[]
local function names_of(places)
  return vim.tbl_map(function(place)
    return place.entry.name
  end, places)
end

--- Says a decision to the sidecar.
---@param target hashline.Target
---@param decided table what is decided about it: fields of hashline/decide
---@param on_answer fun(refused: hashline.Refusal[], queued: string[])?
---@param batch hashline.Batch? what this is reopened with: what was decided as one; without it by itself
function M.send(target, decided, on_answer, batch)
  -- The person may have taken some time to choose.
  if target.buf and state.buffer_of_uri(target.fields.uri or "") ~= target.buf then
    return M.say("this file is not in its buffer any longer; nothing was decided", vim.log.levels.WARN)
  end
  local client = vim.lsp.get_client_by_id(target.client_id)
  if not client then
    return M.say("the sidecar is not running; :Hashline restart", vim.log.levels.WARN)
  end
  local decision = vim.tbl_extend("force", target.fields, decided) --[[@as hashline.Decision]]
  events.asked(target.client_id, decision.decision, names_of(target.places))
  local decides_nothing = decision.decision == "reopen" or decision.decision == "comment"
  batch = batch or reopen.batch()
  if not decides_nothing then
    reopen.asked(batch, target.client_id)
  end
  protocol.ask(client, "hashline/decide", protocol.decision(decision), function(failure, result)
    if not decides_nothing then
      reopen.answered(batch, target.client_id, failure and {} or result.queued)
    end
    if failure then
      return M.say(failure.message or vim.inspect(failure), vim.log.levels.ERROR)
    end
    local refused = result.refused
    events.asked(target.client_id, decision.decision, result.queued)
    events.refused(refused)
    if decision.decision == "reject" or decision.decision == "keepMine" then
      rejected.remember(target.places, result.queued, decision.reason)
    else
      rejected.forget(result.queued)
    end
    if decision.decision ~= "reopen" and #refused == 0 and not target.fields.conversation then
      progress.decided(decision, target.places, result.queued)
    end
    if on_answer then
      on_answer(refused, result.queued)
    elseif #refused > 0 then
      M.say_refused(refused)
    end
  end, target.buf)
end

---@param refused hashline.Refusal[]
function M.say_refused(refused)
  local more = #refused > 1 and (" (and %d more)"):format(#refused - 1) or ""
  M.say(refused[1].message .. more, vim.log.levels.WARN)
end

--- One hunk, wherever it is.
---@param place hashline.Place
---@param buf integer? where the person decided
---@return hashline.Target
function M.of_hunk(place, buf)
  local document, entry = place.document, place.entry
  return {
    client_id = document.client_id,
    buf = buf,
    fields = { uri = document.uri, edit = entry.edit.id, hunk = entry.hunk.number },
    places = { place },
  }
end

---@param document hashline.Document
---@param entries hashline.Entry[]
---@return hashline.Place[]
local function places_of(document, entries)
  return vim.tbl_map(function(entry)
    return { document = document, entry = entry }
  end, entries)
end

---@param document hashline.Document
---@param buf integer?
---@return hashline.Target
local function of_file(document, buf)
  return {
    client_id = document.client_id,
    buf = buf,
    fields = { uri = document.uri },
    places = places_of(document, document.entries),
  }
end

--- A conversation, as each of the sidecars that know of it has it.
---@param conversation string
---@return hashline.Target[]
local function of_conversation(conversation)
  local by_client = {} ---@type table<integer, hashline.Target>
  for _, place in ipairs(state.places()) do
    if place.entry.edit.conversation == conversation then
      local id = place.document.client_id
      by_client[id] = by_client[id]
        or { client_id = id, fields = { conversation = conversation }, places = {} }
      table.insert(by_client[id].places, place)
    end
  end
  return vim.tbl_values(by_client)
end

--- Why the edits of a document are not decided here.
---@param document hashline.Document
---@return string?
local function elsewhere(document)
  if document.read_only then
    return ("These edits are decided in %s."):format(document.owner or "another editor")
  end
end

--- Lets the person choose one of the conversations in which something is to decide.
---@param verb hashline.Verb
---@param on_choice fun(targets: hashline.Target[])
local function choose_conversation(verb, on_choice)
  local conversations, agents = {}, {}
  for _, place in ipairs(state.places()) do
    local edit = place.entry.edit
    if not agents[edit.conversation] then
      agents[edit.conversation] = edit.agent
      conversations[#conversations + 1] = edit.conversation
    end
  end
  if #conversations == 0 then
    return vim.notify("Nothing is left to review.", vim.log.levels.INFO)
  end
  vim.ui.select(conversations, {
    prompt = verb == "accept" and "Accept which conversation?" or "Reject which conversation?",
    kind = "hashline",
    format_item = function(conversation)
      local places, names, seen = {}, {}, {}
      for _, target in ipairs(of_conversation(conversation)) do
        vim.list_extend(places, target.places)
      end
      for _, place in ipairs(places) do
        local name = vim.fs.basename(place.document.key)
        if not seen[name] then
          seen[name] = true
          names[#names + 1] = name
        end
      end
      local agent = vim.fn.strtrans(agents[conversation])
      return ("%s · %s · %s"):format(agent, progress.extent(places), table.concat(names, ", "))
    end,
  }, function(conversation)
    if conversation then
      on_choice(of_conversation(conversation))
    end
  end)
end

--- The hunk at the cursor, in the text or on a screen of several files.
---@param buf integer
---@return hashline.Place?
local function at_cursor(buf)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local screen = screens.here()
  if screen then
    return screen.places(row, row)[1]
  end
  local document = state.of_buffer(buf)
  local entry = document and navigation.meant(buf, document.entries, row - 1)
  return document and entry and { document = document, entry = entry }
end

--- Hunks as few targets: a file or an edit as a whole, where all that is undecided in it is meant.
---@param places hashline.Place[]
---@return hashline.Target[]
local function joined(places)
  local by_file, by_edit = {}, {} ---@type table<string, integer>, table<string, hashline.Target>
  for _, place in ipairs(places) do
    local key = place.document.key
    by_file[key] = (by_file[key] or 0) + 1
  end
  local targets, made_of = {}, {}
  for _, place in ipairs(places) do
    local document, edit = place.document, place.entry.edit
    if by_file[document.key] < #document.entries then
      local target = by_edit[edit.id]
      if not target then
        target =
          { client_id = document.client_id, fields = { uri = document.uri, edit = edit.id }, places = {} }
        by_edit[edit.id], targets[#targets + 1] = target, target
      end
      table.insert(target.places, place)
    elseif not made_of[document.key] then
      made_of[document.key] = true
      targets[#targets + 1] = of_file(document)
    end
  end
  return targets
end

--- Whether a hunk stands as a decision would have it: deciding so once more would take away the reason of the first time.
---@param verb hashline.Verb
---@param hunk hashline.Hunk
---@return boolean
local function is_so(verb, hunk)
  if verb == "comment" then
    return hunk.decision ~= "undecided"
  end
  local decided = verb == "accept" and "accepted" or "rejected"
  return hunk.decision == decided and not hunk.deciding and hunks.in_text(hunk) == (verb == "accept")
end

---@type table<hashline.Verb, string>
local ALREADY = {
  accept = "It is in the text already.",
  reject = "It is rejected already.",
  comment = "It is decided: only what is to be decided can be commented on.",
}

--- What a scope means on a screen of hunks: those of its lines, or the files of these.
---@param screen hashline.Screen
---@param verb hashline.Verb
---@param scope hashline.Scope
---@return hashline.Target[]?
---@return string? why there are none
local function on_screen(screen, verb, scope)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local first, last = unpack(scope.range or { row, row })
  local places = scope.whole_file and screen.places_of_files(first, last) or screen.places(first, last)
  for _, place in ipairs(places) do
    local why = elsewhere(place.document)
    if why then
      return nil, why
    end
  end
  if #places == 0 then
    return nil, screen.nothing
  elseif verb == "comment" or (not scope.reason and not scope.ask_reason) then
    places = vim.tbl_filter(function(place)
      return not is_so(verb, place.entry.hunk)
    end, places)
    if #places == 0 then
      return nil, ALREADY[verb]
    end
  end
  return scope.whole_file and joined(places) or vim.tbl_map(M.of_hunk, places)
end

--- What a scope means in a buffer.
---@param buf integer
---@param scope hashline.Scope
---@return hashline.Target[]?
---@return string? why there is none
---@return integer? level
local function in_buffer(buf, scope)
  local document = state.of_buffer(buf)
  local total = document and #document.entries or 0
  if not document or total == 0 then
    return nil, progress.instead("Nothing to review in this file.")
  elseif document.buf ~= buf then
    return nil, "Another buffer shows the edits of this file.", vim.log.levels.WARN
  elseif document.read_only then
    return nil, elsewhere(document), vim.log.levels.WARN
  elseif scope.whole_file then
    return { of_file(document, buf) }
  elseif not scope.range then
    local place = at_cursor(buf)
    if not place then
      return nil, progress.instead("No hunk on this line.")
    end
    return { M.of_hunk(place, buf) }
  end
  local first, last = scope.range[1] - 1, scope.range[2]
  local places = places_of(document, hunks.touching(document.entries, first, last))
  if #places == 0 then
    return nil, progress.instead("No hunk in these lines.")
  elseif #places == 1 then
    return { M.of_hunk(places[1], buf) }
  end
  local lines = { start = first, ["end"] = last }
  return {
    {
      client_id = document.client_id,
      buf = buf,
      fields = { uri = document.uri, lines = lines },
      places = places,
    },
  }
end

---@param verb hashline.Verb
---@param targets hashline.Target[]
---@param scope hashline.Scope
local function carry_out(verb, targets, scope)
  local ways, batch = require("hashline.resolutions"), reopen.batch()
  for _, target in ipairs(targets) do
    local decided = { decision = verb, reason = scope.reason }
    if #targets > 1 then
      M.send(target, decided, nil, batch) -- one question after the other would be asked
    elseif not ways.ask_first(target, decided) then
      M.send(target, decided, function(refused, queued)
        if #refused > 0 then
          ways.after_refusal(target, decided, refused, queued)
        elseif target.fields.conversation then
          local what = (verb == "accept" and "accepting " or "rejecting ") .. progress.extent(target.places)
          M.say(table.concat({ what, progress.told(scope.reason, target.places) }, ". "))
        end
      end)
    end
  end
end

--- The same with their hunks by name: lines may move while the person chooses.
---@param targets hashline.Target[]
---@return hashline.Target[]
local function by_name(targets)
  local named = {} ---@type hashline.Target[]
  for _, target in ipairs(targets) do
    for _, place in ipairs(target.fields.lines and target.places or {}) do
      named[#named + 1] = M.of_hunk(place, target.buf)
    end
    if not target.fields.lines then
      named[#named + 1] = target
    end
  end
  return named
end

---@param verb hashline.Verb
---@param targets hashline.Target[]
---@param scope hashline.Scope
local function ask_and_carry_out(verb, targets, scope)
  if not scope.ask_reason then
    return carry_out(verb, targets, scope)
  end
  local ask = verb == "comment" and reasons.ask_comment or reasons.ask
  ask(function(reason)
    carry_out(verb, by_name(targets), vim.tbl_extend("force", scope, { reason = reason }))
  end)
end

--- Accepts or rejects what a scope means.
---@param verb hashline.Verb
---@param scope hashline.Scope
function M.decide(verb, scope)
  local buf = vim.api.nvim_get_current_buf()
  local screen, targets, why, level = screens.here(), nil, nil, nil
  if scope.conversation then
    local place = at_cursor(buf)
    if not place then
      return choose_conversation(verb, function(chosen)
        ask_and_carry_out(verb, chosen, scope)
      end)
    end
    targets = of_conversation(place.entry.edit.conversation)
  elseif screen then
    targets, why = on_screen(screen, verb, scope)
  else
    targets, why, level = in_buffer(buf, scope)
  end
  if not targets then
    return vim.notify(why --[[@as string]], level or vim.log.levels.INFO)
  end
  ask_and_carry_out(verb, targets, scope)
end

--- What `g@` calls, so that `.` repeats a decision about the hunk at the cursor. The motion means nothing.
function M.operator_accept()
  M.decide("accept", {})
end

function M.operator_reject()
  M.decide("reject", {})
end

---@return [integer, integer]
local function moved_over()
  return { vim.api.nvim_buf_get_mark(0, "[")[1], vim.api.nvim_buf_get_mark(0, "]")[1] }
end

--- The same about the lines that a motion goes over.
function M.operator_accept_motion()
  M.decide("accept", { range = moved_over() })
end

function M.operator_reject_motion()
  M.decide("reject", { range = moved_over() })
end

return M
