-- Only what has to stand before anything is used: the command, the <Plug> maps and the events that
-- start the sidecar. The plugin's modules are required when one of them is used.
if vim.g.loaded_hashline then
  return
end
vim.g.loaded_hashline = true

if vim.fn.has("nvim-0.11") == 0 then
  vim.api.nvim_create_user_command("Hashline", function()
    vim.notify("hashline needs Neovim 0.11 or later", vim.log.levels.ERROR)
  end, { nargs = "*", bang = true, range = true, desc = "hashline needs Neovim 0.11 or later" })
  return
end

vim.api.nvim_create_user_command("Hashline", function(call)
  require("hashline.command").run(call)
end, {
  nargs = "*",
  bang = true,
  range = true,
  desc = "Review the edits that agents propose",
  complete = function(lead, line)
    return require("hashline.command").complete(lead, line)
  end,
})

-- What a <Plug> map does is in hashline.command; nothing is mapped to a key here.
local function plug(modes, name, action, expr)
  vim.keymap.set(modes, "<Plug>(Hashline" .. name .. ")", function()
    return require("hashline.command").plug(action)
  end, { expr = expr, silent = true, desc = "hashline: " .. action:gsub("_", " ") })
end
plug("n", "Accept", "accept", true)
plug("n", "Reject", "reject", true)
plug("n", "AcceptMotion", "accept_motion", true)
plug("n", "RejectMotion", "reject_motion", true)
plug("n", "RejectReason", "reject_reason")
plug("n", "Comment", "comment")
plug("n", "AcceptFile", "accept_file")
plug("n", "RejectFile", "reject_file")
plug("n", "AcceptConversation", "accept_conversation")
plug("n", "RejectConversation", "reject_conversation")
plug("n", "Reopen", "reopen")
plug("n", "Next", "next")
plug("n", "Prev", "prev")
plug("n", "Pick", "pick")
plug("n", "List", "list")
plug("n", "Review", "review")
plug("n", "Diff", "diff")
plug("n", "Edit", "edit")
plug("n", "History", "history")
plug({ "o", "x" }, "Hunk", "select")
vim.keymap.set("x", "<Plug>(HashlineAccept)", ":Hashline accept<CR>", { silent = true })
vim.keymap.set("x", "<Plug>(HashlineReject)", ":Hashline reject<CR>", { silent = true })
vim.keymap.set("x", "<Plug>(HashlineRejectReason)", ":Hashline reason<CR>", { silent = true })
vim.keymap.set("x", "<Plug>(HashlineComment)", ":Hashline comment<CR>", { silent = true })

local group = vim.api.nvim_create_augroup("hashline.start", {})
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost", "BufWritePost" }, {
  group = group,
  desc = "hashline: bring the buffer to the sidecar",
  callback = function(event)
    require("hashline").attach_soon(event.buf)
  end,
})
-- Loaded late (by a plugin manager, or by `nvim -c`): the files that are open already are brought, too.
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) ~= "" then
    require("hashline").attach_soon(buf)
  end
end
