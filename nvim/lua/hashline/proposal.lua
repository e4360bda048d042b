--- An agent's lines in a window of their own: to take from while a conflict is solved by hand, or to be changed before
--- they are accepted.
local hunks = require("hashline.hunks")
local navigation = require("hashline.navigation")
local state = require("hashline.state")

local M = {}

local WHEN_RIGHT = ":Hashline accept, Keep mine"

---@class hashline.Shown
---@field scratch integer
---@field state string of the hunk, for which it is shown
---@field proposed string[] the agent's lines, as they are shown

local shown = {} ---@type table<string, hashline.Shown> by hunk name

---@param scratch integer
---@return boolean
local function was_changed(scratch)
  return vim.api.nvim_buf_is_valid(scratch) and vim.bo[scratch].modified
end

--- Shows the lines that the agent has for the hunk by now.
---@param window hashline.Shown
---@param proposed string[]
local function renew(window, proposed)
  local scratch = window.scratch
  local modifiable = vim.bo[scratch].modifiable
  vim.bo[scratch].modifiable = true
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, proposed)
  vim.bo[scratch].modifiable = modifiable
  vim.bo[scratch].modified = false
  window.proposed = proposed
end

--- Closes the windows of hunks that are no longer what they were shown for, and renews the others. Lines that the person changed stay.
local function follow()
  local now = {} ---@type table<string, hashline.Hunk>
  for _, place in ipairs(state.places()) do
    now[place.entry.name] = place.entry.hunk
  end
  for name, window in pairs(shown) do
    local hunk = now[name]
    if was_changed(window.scratch) then
      -- These are the person's.
    elseif not hunk or hunk.state ~= window.state then
      shown[name] = nil
      if vim.api.nvim_buf_is_valid(window.scratch) then
        vim.api.nvim_buf_delete(window.scratch, { force = true })
      end
    elseif
      vim.api.nvim_buf_is_valid(window.scratch) and not vim.deep_equal(hunk.proposed, window.proposed)
    then
      renew(window, hunk.proposed)
    end
  end
end

local subscribed = false

---@param entry hashline.Entry
---@param filetype string
---@param heading string
---@param least integer how many lines there is to be room for
---@return integer? scratch
---@return integer? win
local function show(entry, filetype, heading, least)
  local lines = entry.hunk.proposed
  local height = math.max(least, math.min(#lines, math.floor(vim.api.nvim_win_get_height(0) / 3)))
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, lines)
  vim.bo[scratch].bufhidden = "wipe"
  vim.bo[scratch].filetype = filetype
  local title = ("hashline://%s/%s:%d"):format(entry.edit.agent, entry.edit.id:sub(1, 8), entry.hunk.number)
  pcall(vim.api.nvim_buf_set_name, scratch, title)
  local ok, win =
    pcall(vim.api.nvim_open_win, scratch, false, { split = "below", win = 0, height = height + 1 })
  if not ok then
    vim.api.nvim_buf_delete(scratch, { force = true })
    vim.notify("hashline: no room for a window with the agent's lines", vim.log.levels.WARN)
    return nil
  end
  vim.wo[win][0].winbar = "%#HashlineHeader#▎ " .. heading:gsub("%%", "%%%%") .. "%<"
  shown[entry.name] = { scratch = scratch, state = entry.hunk.state, proposed = lines }
  if not subscribed then
    subscribed = true
    state.subscribe(function()
      vim.schedule(follow) -- not while a list is being taken in
    end)
  end
  return scratch, win
end

---@param entry hashline.Entry
---@return integer? scratch
local function shown_already(entry)
  local window = shown[entry.name]
  return window and vim.api.nvim_buf_is_valid(window.scratch) and window.scratch or nil
end

--- Goes to a conflicted hunk, with the agent's lines below. The person asked for it.
---@param buf integer
---@param entry hashline.Entry
function M.take_from(buf, entry)
  if vim.api.nvim_get_current_buf() ~= buf or not entry.lines then
    return
  end
  if not shown_already(entry) and #entry.hunk.proposed > 0 then
    local heading = ("from %s · when yours is right: %s"):format(
      vim.fn.strtrans(entry.edit.agent),
      WHEN_RIGHT
    )
    local scratch = show(entry, vim.bo[buf].filetype, heading, 1)
    if scratch then
      vim.bo[scratch].modifiable = false
    end
  end
  navigation.go(entry)
  if #entry.hunk.proposed == 0 then
    navigation.echo("hashline: the agent takes these lines away; edit them, then " .. WHEN_RIGHT)
  end
end

--- Accepts a hunk with the lines that the person made of it.
---@param buf integer
---@param name string of the hunk
---@param scratch integer
local function accept(buf, name, scratch)
  local decide = require("hashline.decide")
  local place = state.named(name)
  if not place then
    return decide.say("this hunk is decided already; your lines are still here", vim.log.levels.WARN)
  end
  if shown[name] and not vim.deep_equal(place.entry.hunk.proposed, shown[name].proposed) then
    local message = "the agent has other lines for this hunk by now; yours are still here: copy what you need, "
      .. ":quit! this window and :Hashline edit again"
    return decide.say(message, vim.log.levels.WARN)
  end
  local lines = vim.api.nvim_buf_get_lines(scratch, 0, -1, true)
  if #lines == 1 and lines[1] == "" then
    lines = {}
  end
  decide.send(decide.of_hunk(place, buf), { decision = "accept", text = lines }, function(refused)
    if #refused > 0 then
      return decide.say_refused(refused)
    end
    if vim.api.nvim_buf_is_valid(scratch) then
      vim.bo[scratch].modified = false
      follow()
    end
  end)
end

--- Lets the person change what the hunk at the cursor puts there; writing that accepts it.
function M.edit()
  local say = require("hashline.decide").say
  local buf = vim.api.nvim_get_current_buf()
  local document = state.of_buffer(buf)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local entry = document and navigation.meant(buf, document.entries, row)
  if not document or not entry then
    return vim.notify(require("hashline.progress").instead("No hunk on this line."), vim.log.levels.INFO)
  elseif document.read_only then
    return vim.notify(
      ("These edits are decided in %s."):format(document.owner or "another editor"),
      vim.log.levels.INFO
    )
  elseif hunks.in_text(entry.hunk) then
    return say("it is in your text already: change it there, and keep it")
  elseif entry.hunk.state ~= "held" or hunks.is_of_file(entry.hunk) then
    return say("there are no lines to change here; :Hashline accept shows what can be done")
  end
  local before = shown_already(entry)
  if before then
    return vim.api.nvim_set_current_win(vim.fn.bufwinid(before))
  end
  local heading = ("of %s, to be changed · :write accepts what stands here"):format(
    vim.fn.strtrans(entry.edit.agent)
  )
  local scratch, win = show(entry, vim.bo[buf].filetype, heading, 3)
  if not scratch then
    return
  end
  vim.bo[scratch].buftype = "acwrite"
  vim.bo[scratch].modified = false
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = scratch,
    desc = "hashline: accept the hunk with these lines",
    callback = function()
      accept(buf, entry.name, scratch)
    end,
  })
  vim.api.nvim_set_current_win(win --[[@as integer]])
end

return M
