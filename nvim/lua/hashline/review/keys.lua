--- The keys of the review, and how they are shown.
local M = {}

---@class hashline.review.Key
---@field lhs string[] the first is the one that is shown
---@field action string
---@field words string what it does
---@field short string? the same at the bottom of the screen, where there is room for it
---@field command string? what it does with selected lines

---@type hashline.review.Key[]
M.all = {
  {
    lhs = { "a" },
    action = "accept",
    words = "accept or keep the hunk",
    short = "accept",
    command = "accept",
  },
  {
    lhs = { "r" },
    action = "reject",
    words = "reject or undo the hunk",
    short = "reject",
    command = "reject",
  },
  {
    lhs = { "R" },
    action = "reject_reason",
    words = "the same, and say why",
    command = "reason",
  },
  {
    lhs = { "c" },
    action = "comment",
    words = "comment: tell its agent something, and decide nothing",
    command = "comment",
  },
  {
    lhs = { "u" },
    action = "reopen",
    words = "reopen: take the hunk's decision back, or the last one",
    short = "reopen",
  },
  { lhs = { "J", "]h" }, action = "next", words = "next hunk", short = "next" },
  { lhs = { "K", "[h" }, action = "prev", words = "previous hunk" },
  { lhs = { ")", "]f" }, action = "next_file", words = "next file", short = "file" },
  { lhs = { "(", "[f" }, action = "prev_file", words = "previous file" },
  { lhs = { "A" }, action = "accept_file", words = "accept the whole file", short = "accept file" },
  { lhs = { "X" }, action = "reject_file", words = "reject the whole file" },
  { lhs = { "<CR>" }, action = "go", words = "go to the hunk in its file" },
  {
    lhs = { "<Tab>", "za" },
    action = "fold",
    words = "show all lines of a long or decided hunk, or none of a file",
  },
  { lhs = { "f" }, action = "filter", words = "show one agent alone" },
  { lhs = { "t" }, action = "turns", words = "turn by turn, or each file as a whole" },
  { lhs = { "q" }, action = "close", words = "close" },
  { lhs = { "g?" }, action = "help", words = "all keys", short = "keys" },
}

--- The keys by the actions that a hunk's hint tells of.
M.for_hint = { Accept = "a", Reject = "r" }

---@param buf integer
---@param actions table<string, fun()>
function M.set(buf, actions)
  for _, key in ipairs(M.all) do
    for _, lhs in ipairs(key.lhs) do
      local map = { buffer = buf, nowait = true, desc = "hashline: " .. key.words }
      vim.keymap.set("n", lhs, actions[key.action], map)
    end
    if key.command then
      local map = { buffer = buf, nowait = true, silent = true, desc = "hashline: " .. key.words }
      vim.keymap.set("x", key.lhs[1], (":Hashline %s<CR>"):format(key.command), map)
    end
  end
end

-- What is at the bottom of the screen, in the order in which it is left out where there is no room: the last first.
local FOOTER = { "accept", "reject", "next", "next_file", "help", "reopen", "accept_file" }

--- The most important keys in a line.
---@return string
function M.footer()
  local by_action = {}
  for _, key in ipairs(M.all) do
    by_action[key.action] = ("%s %s"):format(key.lhs[1], key.short)
  end
  local parts = vim.tbl_map(function(action)
    return by_action[action]
  end, FOOTER)
  return table.concat(parts, " · ")
end

--- Shows all keys until one is pressed.
function M.help()
  local lines, width = {}, 0
  for _, key in ipairs(M.all) do
    local line = (" %-9s %s "):format(table.concat(key.lhs, " "), key.words)
    lines[#lines + 1], width = line, math.max(width, vim.api.nvim_strwidth(line))
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = "wipe", false
  local win = vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    row = math.max(math.floor((vim.o.lines - #lines - 2) / 2), 0),
    col = math.max(math.floor((vim.o.columns - width - 2) / 2), 0),
    width = math.min(width, vim.o.columns - 2),
    height = math.max(math.min(#lines, vim.o.lines - 4), 1),
    style = "minimal",
    border = "rounded",
    title = " Review ",
  })
  local function close()
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_close(win, true)
    end
  end
  for _, lhs in ipairs({ "q", "<Esc>", "<CR>", "g?" }) do
    vim.keymap.set("n", lhs, close, { buffer = buf, nowait = true })
  end
  vim.api.nvim_create_autocmd("WinLeave", { buffer = buf, callback = close, once = true })
end

return M
