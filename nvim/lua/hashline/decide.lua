--- The person's decisions: what they are about, and the ways out where one cannot be carried out as it is.
local hunks = require("hashline.hunks")
local navigation = require("hashline.navigation")
local protocol = require("hashline.protocol")
local state = require("hashline.state")

local M = {}

---@class hashline.Scope
---@field range [integer, integer]? first and last line, 1-based
---@field whole_file boolean?
---@field reason string?

---@param message string
---@param level integer?
local function say(message, level)
  vim.notify("hashline: " .. message, level or vim.log.levels.INFO)
end

---@param buf integer in which the person decided
---@param document hashline.Document
---@param decision hashline.Decision
---@param on_refused fun(refused: hashline.Refusal[], queued: string[])?
local function send(buf, document, decision, on_refused)
  -- The person may have taken some time to choose.
  if state.buffer_of_uri(decision.uri) ~= buf then
    return say("this file is not in its buffer any longer; nothing was decided", vim.log.levels.WARN)
  end
  local client = vim.lsp.get_client_by_id(document.client_id)
  if not client then
    return say("the sidecar is not running; :Hashline restart", vim.log.levels.WARN)
  end
  client:request("hashline/decide", protocol.decision(decision), function(failure, result)
    local refused = result and result.refused or {}
    if failure then
      say(failure.message or vim.inspect(failure), vim.log.levels.ERROR)
    elseif #refused > 0 then
      if on_refused then
        on_refused(refused, result.queued)
      else
        say(refused[1].message, vim.log.levels.WARN)
      end
    end
  end, buf)
end

--- Asks for one of several ways on. The last one, which does nothing, is added here.
---@param prompt string
---@param ways { [1]: string, [2]: fun() }[]
local function choose(prompt, ways)
  ways[#ways + 1] = { "Cancel", function() end }
  vim.ui.select(ways, {
    prompt = prompt,
    kind = "hashline",
    format_item = function(way)
      return way[1]
    end,
  }, function(way)
    if way then
      way[2]()
    end
  end)
end

---@param document hashline.Document
---@param entry hashline.Entry
---@param fields table
---@return hashline.Decision
local function of_hunk(document, entry, fields)
  return vim.tbl_extend(
    "force",
    { uri = document.uri, edit = entry.edit.id, hunk = entry.hunk.number },
    fields
  )
end

--- The ways out of a conflict.
---@param buf integer
---@param document hashline.Document
---@param entry hashline.Entry
---@param message string?
local function offer_conflict(buf, document, entry, message)
  local function way(decision)
    return function()
      send(buf, document, of_hunk(document, entry, { decision = decision }))
    end
  end
  local prompt = message or ("Conflicted: " .. (entry.hunk.conflict or "you changed these lines"))
  if hunks.is_past_taking(entry.hunk) then
    return choose(prompt, { { "Reject", way("reject") } })
  end
  choose(prompt, {
    { "Keep mine", way("keepMine") },
    { "Take the agent's", way("takeTheirs") },
    { "Keep both", way("keepBoth") },
    {
      "Edit by hand",
      function()
        require("hashline.by_hand").open(buf, entry)
      end,
    },
  })
end

--- The ways to take a hunk out that the person changed.
---@param buf integer
---@param document hashline.Document
---@param entry hashline.Entry
---@param reason string?
local function offer_edited(buf, document, entry, reason)
  local function way(edited)
    return function()
      send(buf, document, of_hunk(document, entry, { decision = "reject", reason = reason, edited = edited }))
    end
  end
  choose("You changed lines of this hunk", {
    { "Undo it, my changes too", way("undo") },
    { "Undo it, keep my lines", way("keep") },
  })
end

---@param document hashline.Document
---@param name string EDIT:NUMBER
---@return hashline.Entry?
local function named(document, name)
  for _, entry in ipairs(document.entries) do
    if entry.name == name then
      return entry
    end
  end
end

--- What to do when hunks were not decided.
---@param buf integer
---@param document hashline.Document
---@param decision hashline.Decision
---@param refused hashline.Refusal[]
---@param queued string[]
local function after_refusal(buf, document, decision, refused, queued)
  local first = refused[1]
  local fresh = state.of_buffer(buf) or document
  local entry = named(fresh, first.hunk)
  local whys = {}
  for _, refusal in ipairs(refused) do
    whys[refusal.why] = true
  end
  local single = decision.hunk ~= nil and entry ~= nil

  if whys.needsOthers and vim.tbl_count(whys) == 1 then
    local others = {}
    for _, refusal in ipairs(refused) do
      for _, other in ipairs(refusal.others) do
        others[other] = true
      end
    end
    local count = vim.tbl_count(others)
    local verb = decision.decision == "reject" and "Reject" or "Accept"
    choose(first.message, {
      {
        ("%s with the %s it needs"):format(verb, count == 1 and "one" or count),
        function()
          send(buf, fresh, vim.tbl_extend("force", decision, { withOthers = true }))
        end,
      },
    })
  elseif first.why == "conflicted" and single and #queued == 0 then
    offer_conflict(buf, fresh, entry, first.message)
  elseif first.why == "edited" and single and #queued == 0 then
    offer_edited(buf, fresh, entry, decision.reason)
  elseif first.why == "collides" and single then
    choose(first.message, {
      {
        "Reject the other, then " .. decision.decision .. " this",
        function()
          for _, other in ipairs(first.others) do
            local edit, number = other:match("^(.*):(%d+)$")
            send(buf, fresh, { decision = "reject", uri = fresh.uri, edit = edit, hunk = tonumber(number) })
          end
          send(buf, fresh, decision)
        end,
      },
    })
  elseif first.why == "conflicted" and #queued == 0 then
    -- Nothing was done because of conflicts: the others can still be decided.
    local stopped = {}
    for _, refusal in ipairs(refused) do
      stopped[refusal.hunk] = true
    end
    local among = fresh.entries
    if decision.lines then
      among = hunks.touching(among, decision.lines.start, decision.lines["end"])
    end
    local others = vim.tbl_filter(function(other)
      return not stopped[other.name] and other.hunk.state ~= "conflicted"
    end, among)
    if #others == 0 then
      return say(first.message, vim.log.levels.WARN)
    end
    choose(first.message, {
      {
        ("%s the %d other%s"):format(
          decision.decision == "reject" and "Reject" or "Accept",
          #others,
          #others == 1 and "" or "s"
        ),
        function()
          for _, other in ipairs(others) do
            send(
              buf,
              fresh,
              of_hunk(fresh, other, { decision = decision.decision, reason = decision.reason })
            )
          end
        end,
      },
    })
  else
    local more = #refused > 1 and (" (and %d more)"):format(#refused - 1) or ""
    say(first.message .. more, vim.log.levels.WARN)
  end
end

--- Accepts or rejects what a scope means: the hunk at the cursor, those in a range, those of the file.
---@param verb "accept"|"reject"
---@param scope hashline.Scope
function M.decide(verb, scope)
  local buf = vim.api.nvim_get_current_buf()
  local document = state.of_buffer(buf)
  local total = document and #document.entries or 0
  if not document or total == 0 then
    return say("nothing to decide in this buffer")
  elseif document.buf ~= buf then
    return say("another buffer shows the edits of this file", vim.log.levels.WARN)
  end
  if document.read_only then
    return say(
      ("these edits are decided in %s"):format(document.owner or "another editor"),
      vim.log.levels.WARN
    )
  end
  ---@type hashline.Decision
  local decision = { decision = verb, uri = document.uri, reason = scope.reason }
  if scope.whole_file then
    -- The document alone says: all of it.
  elseif scope.range then
    local first, last = scope.range[1] - 1, scope.range[2]
    local touched = hunks.touching(document.entries, first, last)
    if #touched == 0 then
      return say("no hunk in these lines; :Hashline next goes to one")
    elseif #touched == 1 then
      decision.edit, decision.hunk = touched[1].edit.id, touched[1].hunk.number
    else
      decision.lines = { start = first, ["end"] = last }
    end
  else
    local entry = navigation.meant(buf, document.entries, vim.api.nvim_win_get_cursor(0)[1] - 1)
    if not entry then
      return say(("no hunk here; :Hashline next goes to one of %d"):format(total))
    end
    decision = of_hunk(document, entry, decision)
    if verb == "accept" and entry.hunk.state == "conflicted" then
      return offer_conflict(buf, document, entry)
    elseif verb == "reject" and entry.hunk.state == "edited" then
      return offer_edited(buf, document, entry, scope.reason)
    end
  end
  send(buf, document, decision, function(refused, queued)
    after_refusal(buf, document, decision, refused, queued)
  end)
end

--- What `g@` calls, so that `.` repeats a decision. The motion means nothing: it is about the cursor.
function M.operator_accept()
  M.decide("accept", {})
end

function M.operator_reject()
  M.decide("reject", {})
end

return M
