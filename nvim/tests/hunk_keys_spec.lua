--- The keys that are there without having been mapped.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local three = require("three_hunks")
local at, edit, list = messages.at, messages.edit, messages.list

--- Starts with a file that has three hunks, after some Lua of the person's.
---@return Child
---@return fun(hunks: table[]) push
local function start(init, settings)
  local child = t.start(settings or { keys = true }, { 16, 90 })
  child:lua(init or "")
  local uri = child:open("a.txt", three.LINES)
  local function push(hunks)
    child:push("hashline/pendingEdits", list(uri, 0, #hunks > 0 and { edit(hunks) } or {}))
  end
  push(three.hunks())
  return child, push
end

--- The keys that the plugin mapped in the buffer, as "mode key".
local function mapped(child)
  return child:lua([[
    local found = {}
    for _, mode in ipairs({ "n", "x", "o" }) do
      for _, map in ipairs(vim.api.nvim_buf_get_keymap(0, mode)) do
        if vim.startswith(map.rhs or "", "<Plug>(Hashline") then
          table.insert(found, mode .. " " .. map.lhs)
        end
      end
    end
    return vim.fn.sort(found)
  ]])
end

local ANYWHERE = { "n [h", "n \\hl", "n \\hu", "n \\hv", "n ]h" }
local ALL = {
  "n [h",
  "n \\hR",
  "n \\ha",
  "n \\hc",
  "n \\hd",
  "n \\he",
  "n \\hl",
  "n \\hr",
  "n \\hu",
  "n \\hv",
  "n ]h",
  "x \\hR",
  "x \\ha",
  "x \\hc",
  "x \\hr",
}

t.test("keys while something is pending: in its buffer, some in the other files, and in the list", function()
  local child, push = start()
  t.eq(mapped(child), ALL)
  child:open("b.txt", { "b" })
  t.eq(mapped(child), ANYWHERE, "in a file that is opened afterwards")
  child:type("]h")
  t.eq({ child:lua("return vim.fn.expand('%:t')"), child:cursor()[1] }, { "a.txt", 5 })
  child:type("\\hl")
  local in_list = vim.tbl_filter(function(key)
    return key ~= "n \\hd" and key ~= "n \\he"
  end, ALL)
  t.eq({ child:lua("return vim.bo.buftype"), mapped(child) }, { "quickfix", in_list })
  push({})
  child:settle()
  t.eq(mapped(child), {}, "nothing is left: not in the list")
  for _, name in ipairs({ "a.txt", "b.txt" }) do
    child:cmd("wincmd p | buffer " .. name)
    t.eq(mapped(child), {}, "not in " .. name)
  end
  push(three.hunks())
  t.eq(mapped(child), ANYWHERE, "b.txt, when there is something anew")
end)

t.test("a decision by key, repeated by a dot", function()
  local child = start()
  child:type("]h\\hr")
  t.eq(decisions.said(child, 1)[1].hunk, 1)
  child:type("]h.")
  local second = decisions.said(child, 2)[2]
  t.eq({ second.decision, second.hunk }, { "reject", 2 })
  child:type("ggVj\\ha")
  t.eq(child:notified(), { "No hunk in these lines. 3 in this file: :Hashline next" })
end)

t.test("keys that the person has are left alone, and none is added for what is mapped", function()
  local child, push = start([[
    vim.keymap.set("n", "]h", function() mine = true end)
    vim.keymap.set("n", "<Leader>hu", "x")
    vim.keymap.set("n", "<Leader>hRR", "x")
    vim.keymap.set("n", "ga", "<Plug>(HashlineAccept)")
  ]])
  t.eq(mapped(child), {
    "n [h",
    "n \\hc",
    "n \\hd",
    "n \\he",
    "n \\hl",
    "n \\hr",
    "n \\hv",
    "x \\hR",
    "x \\ha",
    "x \\hc",
    "x \\hr",
  })
  child:type("]h")
  t.eq(child:lua("return mine"), true)
  child:cmd("nnoremap <buffer> [h y")
  push({})
  t.eq(mapped(child), {})
  t.eq(child:lua("return vim.fn.maparg('[h', 'n')"), "y", "mapped meanwhile, it stays")
  child = start([[vim.keymap.set("n", "<Leader>h", "x")]])
  t.eq(
    mapped(child),
    { "n [h", "n ]h", "x \\hR", "x \\ha", "x \\hc", "x \\hr" },
    "it would have to wait for a second key"
  )
end)

t.test("no keys where the setting says so", function()
  t.eq(mapped((start(nil, { keys = false }))), {})
end)

t.test("a buffer that goes while something is pending, and one that gets another name", function()
  local child = start()
  child:cmd("file c.txt")
  child:wait_for_sidecar()
  child:settle()
  t.eq(mapped(child), ANYWHERE, "the hunks wait under the old name")
  child:cmd("let v:errmsg = '' | enew | bwipeout! c.txt")
  t.eq(child:lua("return vim.v.errmsg"), "")
end)

t.test("the line that introduces a hunk shows the keys", function()
  local child = start([[vim.g.mapleader = " "]])
  local function heading()
    return child:screen():match("▎ [^\n]*#1 · [^\n]*")
  end
  t.eq(heading(), "▎ claude-code · #1 · 3 left · +1 -2 · <Space>ha accept · <Space>hr reject")
  child:cmd("Hashline prev")
  t.ok(child:screen():find("Conflict: <Space>ha to choose", 1, true), child:screen())
  child = start([[vim.keymap.set("n", "ga", ":Hashline accept<CR>")]], { keys = false })
  t.eq(heading(), "▎ claude-code · #1 · 3 left · +1 -2 · ga accept · :Hashline reject")
end)
