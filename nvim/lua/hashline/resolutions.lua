--- The ways on where a decision cannot be carried out as it is.
local hunks = require("hashline.hunks")
local state = require("hashline.state")

local M = {}

--- Says what was chosen; where that cannot be carried out either, the next way is asked for.
---@param target hashline.Target
---@param decided table
local function go_on(target, decided)
  require("hashline.decide").send(target, decided, function(refused, queued)
    if #refused > 0 then
      M.after_refusal(target, decided, refused, queued)
    end
  end)
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

--- The ways out of a conflict.
---@param target hashline.Target of one hunk
---@param message string?
local function offer_conflict(target, message)
  local entry = target.places[1].entry
  local function way(decision)
    return function()
      go_on(target, { decision = decision })
    end
  end
  local prompt = message or ("Conflicted: " .. (entry.hunk.conflict or "you changed these lines"))
  if hunks.is_past_taking(entry.hunk) then
    return choose(prompt, { { "Reject", way("reject") } })
  end
  local ways = {
    { "Keep mine", way("keepMine") },
    { "Take the agent's", way("takeTheirs") },
    { "Keep both", way("keepBoth") },
  }
  if target.buf then
    ways[#ways + 1] = {
      "Edit by hand",
      function()
        require("hashline.proposal").take_from(target.buf, entry)
      end,
    }
  end
  choose(prompt, ways)
end

--- The ways to take a hunk out that the person changed.
---@param target hashline.Target of one hunk
---@param reason string?
local function offer_edited(target, reason)
  local function way(edited)
    return function()
      go_on(target, { decision = "reject", reason = reason, edited = edited })
    end
  end
  choose("You changed lines of this hunk", {
    { "Undo it, my changes too", way("undo") },
    { "Undo it, keep my lines", way("keep") },
  })
end

--- Asks what is known to be asked about a hunk, before anything is said.
---@param target hashline.Target
---@param decided table
---@return boolean asked
function M.ask_first(target, decided)
  if not target.fields.hunk then
    return false
  end
  local hunk = target.places[1].entry.hunk
  if decided.decision == "accept" and hunk.state == "conflicted" then
    offer_conflict(target)
    return true
  elseif decided.decision == "reject" and hunk.state == "edited" then
    offer_edited(target, decided.reason)
    return true
  end
  return false
end

--- The hunk of a target as it is now.
---@param target hashline.Target
---@return hashline.Target
local function renewed(target)
  local place = state.named(target.places[1].entry.name)
  return place and require("hashline.decide").of_hunk(place, target.buf) or target
end

local WORDS = {
  keepMine = "Keep mine",
  takeTheirs = "Take the agent's",
  keepBoth = "Keep both",
}

--- What a decision is called: Keep and Undo where all that is meant is in the text.
---@param decision string
---@param places hashline.Place[]
---@return string
local function word_for(decision, places)
  local in_text = #places > 0
  for _, place in ipairs(places) do
    in_text = in_text and hunks.in_text(place.entry.hunk)
  end
  if decision == "reject" then
    return in_text and "Undo" or "Reject"
  end
  return WORDS[decision] or (in_text and "Keep" or "Accept")
end

--- The same together with the hunks that it needs.
---@param decision string
---@param places hashline.Place[]
---@param others integer
---@return string
local function word_with_others(decision, places, others)
  local word = word_for(decision, places)
  local them = others == 1 and "the one" or ("the %d"):format(others)
  if decision == "reject" then
    return ("%s with %s built on it"):format(word, them)
  elseif decision == "keepMine" then
    return ("%s, and reject %s built on it"):format(word, them)
  end
  return ("%s with %s it builds on"):format(word, them)
end

--- The same after the one that stands against it was taken away.
---@param decision string
---@param places hashline.Place[]
---@param other string its name; one that is not shown was kept in the text
---@return string
local function word_after_other(decision, places, other)
  local place = state.named(other)
  local undoes = not place or hunks.in_text(place.entry.hunk)
  local object = (decision == "takeTheirs" or decision == "keepBoth") and "" or " this"
  return ("%s the other, then %s%s"):format(
    undoes and "Undo" or "Reject",
    word_for(decision, places):lower(),
    object
  )
end

--- The hunks that are meant and not refused can be decided by themselves.
---@param target hashline.Target
---@param decided table
---@param refused hashline.Refusal[]
local function offer_the_others(target, decided, refused)
  local stopped = {}
  for _, refusal in ipairs(refused) do
    stopped[refusal.hunk] = true
  end
  local others = vim.tbl_filter(function(place)
    return not stopped[place.entry.name] and place.entry.hunk.state ~= "conflicted"
  end, target.places)
  if #others == 0 then
    return require("hashline.decide").say_refused({ refused[1] })
  end
  choose(refused[1].message, {
    {
      ("%s the %d other%s"):format(word_for(decided.decision, others), #others, #others == 1 and "" or "s"),
      function()
        local decide, batch = require("hashline.decide"), require("hashline.reopen").batch()
        for _, place in ipairs(others) do
          decide.send(decide.of_hunk(place, target.buf), decided, nil, batch)
        end
      end,
    },
  })
end

--- What to do when hunks were not decided.
---@param target hashline.Target
---@param decided table what was to be decided
---@param refused hashline.Refusal[]
---@param queued string[]
function M.after_refusal(target, decided, refused, queued)
  local first = refused[1]
  local is_single = target.fields.hunk ~= nil
  local whys, needed = {}, {}
  for _, refusal in ipairs(refused) do
    whys[refusal.why] = true
    for _, other in ipairs(refusal.others) do
      needed[other] = true
    end
  end

  if whys.needsOthers and vim.tbl_count(whys) == 1 then
    local count = vim.tbl_count(needed)
    choose(first.message, {
      {
        word_with_others(decided.decision, target.places, count),
        function()
          go_on(target, vim.tbl_extend("force", decided, { withOthers = true }))
        end,
      },
    })
  elseif first.why == "conflicted" and is_single then
    offer_conflict(renewed(target), first.message)
  elseif first.why == "edited" and is_single then
    offer_edited(renewed(target), decided.reason)
  elseif first.why == "collides" and is_single then
    choose(first.message, {
      {
        word_after_other(decided.decision, target.places, first.others[1]),
        function()
          local decide, batch = require("hashline.decide"), require("hashline.reopen").batch()
          for _, other in ipairs(first.others) do
            local edit, number = other:match("^(.*):(%d+)$")
            -- In whichever file it is: another one may have taken the name of this one.
            local fields = { edit = edit, hunk = math.floor(tonumber(number) or 1) }
            local collides = { client_id = target.client_id, fields = fields, places = {} }
            decide.send(collides, { decision = "reject" }, nil, batch)
          end
          decide.send(target, decided, nil, batch)
        end,
      },
    })
  elseif first.why == "conflicted" and #queued == 0 then
    offer_the_others(target, decided, refused)
  else
    require("hashline.decide").say_refused(refused)
  end
end

return M
