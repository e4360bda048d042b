--- What the keys of the review do.
local keys = require("hashline.review.keys")
local layout = require("hashline.review.layout")
local movement = require("hashline.review.movement")
local navigation = require("hashline.navigation")

local M = {}

---@param shown hashline.review.View
---@return boolean whether the cursor is on the side of the files
local function is_among_files(shown)
  return vim.api.nvim_get_current_win() == shown.files_win
end

--- The side that the cursor is on, and its line.
---@param shown hashline.review.View
---@return hashline.review.Canvas
---@return integer row 1-based
local function here(shown)
  return is_among_files(shown) and shown.files or shown.diffs, vim.api.nvim_win_get_cursor(0)[1]
end

--- The hunk of the cursor's line, or the first of its file.
---@param shown hashline.review.View
---@return hashline.review.Item?
local function item_at_cursor(shown)
  local side, row = here(shown)
  return side:items(row, row)[1] or side:items(row, row, true)[1]
end

---@param verb hashline.Verb
---@param scope hashline.Scope
---@return fun(shown: hashline.review.View)
local function deciding(verb, scope)
  return function(shown)
    shown.leaving = not is_among_files(shown)
    local own = { whole_file = scope.whole_file or is_among_files(shown), ask_reason = scope.ask_reason }
    require("hashline.decide").decide(verb, own)
  end
end

---@param move fun(shown: hashline.review.View, count: integer): boolean
---@param direction 1|-1
---@return fun(shown: hashline.review.View)
local function moving(move, direction)
  return function(shown)
    if not move(shown, direction * vim.v.count1) then
      navigation.echo("Nothing is left to review.")
    end
  end
end

---@type table<string, fun(shown: hashline.review.View)>
local actions = {
  accept = deciding("accept", {}),
  reject = deciding("reject", {}),
  reject_reason = deciding("reject", { ask_reason = true }),
  comment = function(shown)
    local scope = { whole_file = is_among_files(shown), ask_reason = true }
    require("hashline.decide").decide("comment", scope)
  end,
  accept_file = deciding("accept", { whole_file = true }),
  reject_file = deciding("reject", { whole_file = true }),
  next = moving(movement.hunk, 1),
  prev = moving(movement.hunk, -1),
  next_file = moving(movement.file, 1),
  prev_file = moving(movement.file, -1),
  help = keys.help,
  close = function(shown)
    shown.close()
  end,
}

--- Takes back the decision about the hunk at the cursor, or else the last one.
function actions.reopen(shown)
  local side, row = here(shown)
  local item = side:items(row, row)[1]
  shown.leaving = false
  if item and item.outcome then
    shown.asked = { item.name }
    require("hashline.reopen").hunk(item.document.client_id, item.name)
  else
    require("hashline.reopen").last(function(names)
      shown.asked = names
    end)
  end
end

--- Shows all lines of a hunk or its beginning; all hunks of a file or none.
function actions.fold(shown)
  local side, row = here(shown)
  local block = side:at(row - 1)
  if block.item then
    local was_opened = layout.is_opened(shown, block.item)
    shown.opened[block.item.name] = not was_opened and layout.standing(block.item) or nil
  elseif block.section then
    shown.folded[block.section.id] = not shown.folded[block.section.id]
  else
    return
  end
  shown.made[block.section.document.key] = nil
  shown.renew()
end

--- Shows other hunks, or the same in another order. The cursor stays on its hunk if that is still there.
---@param shown hashline.review.View
local function regroup(shown)
  local item = item_at_cursor(shown)
  shown.renew()
  if not movement.go_to(shown, item and { item.name } or {}) then
    movement.start(shown)
  end
  shown.follow(shown)
end

--- Lets the person choose whose hunks are shown.
function actions.filter(shown)
  local agents = shown.model:agents()
  if #agents < 2 then
    local only = agents[1] and ("All edits are by %s."):format(agents[1])
    return navigation.echo(only or "Nothing is left to review.")
  end
  local everyone = "All agents"
  vim.ui.select(vim.list_extend({ everyone }, agents), {
    prompt = "Show the edits of which agent?",
    kind = "hashline",
    format_item = vim.fn.strtrans,
  }, function(agent)
    if agent then
      shown.model.agent = agent ~= everyone and agent or nil
      regroup(shown)
    end
  end)
end

--- Tells turns apart, or does not.
function actions.turns(shown)
  shown.model.by_turn = not shown.model.by_turn
  regroup(shown)
end

--- Goes to the hunk in its file, in the tab page from which the review was opened. The review stays open. From a line of the files it
--- goes to the file on the other side.
function actions.go(shown)
  local item = item_at_cursor(shown)
  if not item then
    return
  elseif is_among_files(shown) then
    movement.go_to_file(shown, item.section)
    return
  end
  local place = { document = item.document, entry = item.entry }
  if not navigation.has_file(place) then
    local name = vim.fs.basename(item.document.key)
    return navigation.echo(("There is no file %s now; it can be decided here."):format(name))
  end
  if vim.api.nvim_tabpage_is_valid(shown.from_tab) then
    vim.api.nvim_set_current_tabpage(shown.from_tab)
  else
    vim.cmd.tabnew()
    shown.from_tab = vim.api.nvim_get_current_tabpage()
  end
  navigation.visit(place)
end

--- The actions in a view.
---@param shown hashline.review.View
---@return table<string, fun()>
function M.of(shown)
  return vim.tbl_map(function(action)
    return function()
      action(shown)
    end
  end, actions)
end

return M
