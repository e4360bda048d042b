--- The same as it is seen: in a terminal, in the pictures of the README, and in the demo.
local t = ...
local Agent = require("agent")
local patience = require("patience")
local Scene = require("scene")
local Terminal = require("terminal")

-- ---- in a terminal --------------------------------------------------------------------------------------------

local INIT = [[
vim.opt.runtimepath:prepend(vim.env.HASHLINE_NVIM)
vim.g.hashline = { binary = vim.env.HASHLINE_SIDECAR }
vim.o.termguicolors = true
vim.o.number = true
vim.o.statusline = " %f %m%=%{get(b:, 'hashline_status', '')} "
vim.cmd("set noswapfile shortmess+=I noruler")
vim.keymap.set("n", "]h", "<Plug>(HashlineNext)")
vim.keymap.set("n", "ga", "<Plug>(HashlineAccept)")
vim.keymap.set("n", "gR", "<Plug>(HashlineReject)")
]]

local CART = {
  "// what is in the cart",
  "export function total(items) {",
  "  let sum = 0;",
  "  for (const item of items) {",
  "    sum += item.price;",
  "  }",
  "  return sum;",
  "}",
  "",
  "export function count(items) {",
  "  return items.length;",
  "}",
}

--- What a picture says, row by row, without its blanks.
local function said_by(svg)
  local rows, order = {}, {}
  for y, words in svg:gmatch('<text x="[^"]*" y="([^"]*)"[^>]*>([^<]*)</text>') do
    if not rows[y] then
      rows[y], order[#order + 1] = "", y
    end
    rows[y] = rows[y] .. words:gsub("%s", "")
  end
  return vim.tbl_map(function(y)
    return rows[y]
  end, order)
end

--- A Neovim in a terminal, on a folder with these files, in which the first of them is open; and where sidecars of it are found.
local function start_in_terminal(size, files, first)
  local binary, state = Scene.sidecar()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder .. "/shop", "p")
  vim.fn.writefile(vim.split(INIT, "\n"), folder .. "/init.lua")
  for name, lines in pairs(files) do
    vim.fn.writefile(lines, folder .. "/shop/" .. name)
  end
  local nvim = { vim.env.NVIM_BINARY, "-n", "-i", "NONE", "--clean", "-u", "../init.lua", first }
  local env = { HASHLINE_NVIM = vim.fs.dirname(t.here), HASHLINE_SIDECAR = binary }
  return Terminal.start(size, folder .. "/shop", nvim, env), folder .. "/shop", state
end

--- An agent that has read what is not saved in the cart, and edits two places of it.
local function edit_cart(terminal, folder, state, more)
  terminal:has("what is in the cart")
  terminal:keys("A, gift wrap not counted yet", "Escape")
  local agent = Agent.start(folder, state)
  local read
  t.wait(function()
    read = agent:read("cart.js")
    return read.text:find("gift wrap not counted yet", 1, true)
  end, "the agent reads what is not saved")
  agent:edit("cart.js", read, {
    { "replace", "item.price", "    sum += item.price * item.quantity;" },
    { "insert_after", "let sum", "  if (items.length === 0) return sum;" },
  }, more)
  return agent
end

--- Sees to it that a picture of the README shows this screen, or these screens one after the other. Colours differ from one Neovim to the next;
--- the words do not.
local function is_pictured(terminal, name, screens)
  local path = vim.fs.joinpath(vim.fs.dirname(t.here), "doc", name)
  local columns, rows = unpack(terminal.size)
  local drawn = vim
    .system(
      { "python3", t.here .. "/picture.py", tostring(columns), tostring(rows) },
      { stdin = screens or terminal:coloured(), text = true }
    )
    :wait(patience.LONGEST_MS)
  t.eq(drawn.code, 0, drawn.stderr)
  if vim.env.HASHLINE_UPDATE_SCREENS == "1" then
    vim.fn.writefile(vim.split(vim.trim(drawn.stdout), "\n"), path)
  end
  t.eq(said_by(Scene.bytes(path)), said_by(drawn.stdout), name .. " shows another screen")
end

t.test("in a terminal: a held edit is seen, in colours, accepted and taken back by keys", function()
  local terminal, folder, state = start_in_terminal({ 80, 18 }, { ["cart.js"] = CART }, "cart.js")
  local agent = edit_cart(terminal, folder, state)
  local held = {
    "    1 // what is in the cart, gift wrap not counted yet",
    "    2 export function total(items) {",
    "_   3   let sum = 0;",
    "      ▎ claude-code · #1 · 2 left · +1 · ga accept · gR reject",
    "        if (items.length === 0) return sum;",
    "    4   for (const item of items) {",
    "-   5     sum += item.price;",
    "      ▎ claude-code · #2 · 2 left · +1 -1 · ga accept · gR reject",
    "          sum += item.price * item.quantity;",
    "    6   }",
    "    7   return sum;",
    "    8 }",
    "    9",
    "   10 export function count(items) {",
    "   11   return items.length;",
    "   12 }",
    (" cart.js [+]%s2 pending"):format((" "):rep(58)),
    "claude-code: 2 hunks here. :Hashline next",
  }
  terminal:begins(held, "the proposal")

  terminal:keys("]h")
  held[18] = "#1 · 2 left · claude-code · after line 3 · +1 · held"
  terminal:begins(held, "the place")
  terminal:keys("]h")
  local accepted = vim.list_slice(held, 1, 6)
  accepted[4] = "      ▎ claude-code · #1 · 1 left · +1 · ga accept · gR reject"
  accepted[7] = "    5     sum += item.price * item.quantity;"
  vim.list_extend(accepted, vim.list_slice(held, 10, 16))
  for round = 1, 6 do
    terminal:keys("ga")
    terminal:begins(accepted, "the acceptance, in round " .. round)
    terminal:keys("u")
    terminal:begins(vim.list_slice(held, 1, 17), "the acceptance taken back, in round " .. round)
  end
  terminal:keys("gR")
  accepted[7] = "    5     sum += item.price;"
  terminal:begins(accepted, "the rejection")
  t.eq(Scene.bytes(folder .. "/cart.js"), table.concat(CART, "\n") .. "\n", "nothing is saved")
  terminal:keys(":qa!", "Enter")
  terminal:ends("Neovim ends")
  t.wait(function()
    return vim.trim(vim.fn.system({ "pgrep", "-f", state })):find(tostring(agent.process.pid)) ~= nil
      and #vim.fn.systemlist({ "pgrep", "-f", state }) == 1
  end, "and its sidecar with it: only the agent is left")
end)

t.test("in a terminal: an agent's edits while a person types and decides, as a moving picture", function()
  local terminal, folder, state = start_in_terminal({ 80, 18 }, { ["cart.js"] = CART }, "cart.js")
  local screens = {}
  local function shot(seconds, words)
    screens[#screens + 1] = ("%s %s\n%s\f"):format(seconds, words, terminal:coloured())
  end
  local function shows(...)
    for _, words in ipairs({ ... }) do
      terminal:has(words)
    end
  end
  edit_cart(terminal, folder, state)
  shows("claude-code: 2 hunks here. :Hashline next", "#1 · 2 left", "#2 · 2 left", "2 pending")
  shot(4, "An agent proposes two hunks. Green lines are not in the text yet.")
  terminal:keys("gg", "O", "prices are in cents") -- Neovim begins the comment
  shows("    1 // prices are in cents", "-- INSERT --", "#2 · 2 left", "2 pending")
  shot(3, "You type on. The hunks keep their places.")
  terminal:keys("Escape")
  terminal:wait(function(screen)
    return not screen:find("-- INSERT --", 1, true)
  end, "typing ends")
  terminal:keys("]h")
  shows("after line 4 · +1 · held")
  shot(2, "]h goes to the next hunk.")
  terminal:keys("ga")
  shows("    5   if (items.length === 0) return sum;", "#2 · 1 left", "1 pending", "Accepted. 1 left here")
  shot(3, "Accept (here on ga): the line is in the text. u undoes that.")
  terminal:keys("]h")
  shows("· held")
  terminal:keys("gR")
  terminal:wait(function(screen)
    local is_left = screen:find("▎", 1, true) or screen:find("pending", 1, true)
    return not is_left and screen:find("Rejected.", 1, true)
  end, "the other one is rejected")
  shot(3, "Reject (here on gR): the agent is told. None of it was ever in the file.")
  is_pictured(terminal, "moving.svg", table.concat(screens))
  terminal:keys(":qa!", "Enter")
  terminal:ends("Neovim ends")
end)

t.test("in a terminal: the review of what an agent did in several files, and its picture", function()
  local tax = { "export function tax(sum) {", "  return sum * 0.19;", "}" }
  local files = { ["cart.js"] = CART, ["tax.js"] = tax, ["old.js"] = CART, ["mv.js"] = tax }
  local terminal, folder, state = start_in_terminal({ 100, 27 }, files, "cart.js")
  local agent = edit_cart(terminal, folder, state, { reason = "carts have quantities now" })
  agent:edit("tax.js", agent:read("tax.js"), { { "replace", "0.19", "  return sum * RATE;" } })
  agent:call("write_file", { path = "rate.js", content = "export const RATE = 0.19;\n" })
  agent:call("delete_file", { path = "old.js" })
  agent:call("move_file", { source = "mv.js", destination = "shipping.js" })
  terminal:has("2 hunks here, old.js deleted, rate.js created and 2 more. :Hashline review")
  terminal:keys(":Hashline review", "Enter")
  for _, words in ipairs({
    "claude-code · 7 hunks in 5 files",
    "cart.js +2 -1 · 2 left",
    "old.js deleted · 1 left",
    "shipping.js renamed · 1 left",
    "rate.js created +1 · 2 left",
    "carts have quantities now",
  }) do
    terminal:has(words)
  end
  is_pictured(terminal, "review.svg")
  terminal:keys("a")
  terminal:has(
    "claude-code · 7 hunks in 5 files · 1 decided",
    "the first is accepted, and its review goes on"
  )
  terminal:keys("q", ":qa!", "Enter")
  terminal:ends("Neovim ends")
end)

t.test("hashline demo --editor nvim: an offer to decide, and nothing left behind", function()
  Scene.sidecar() -- says what is missing
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  local demo = { vim.env.HASHLINE_BIN, "demo", "--editor", "nvim", "--nvim", vim.env.NVIM_BINARY }
  local terminal = Terminal.start({ 90, 26 }, t.repository, demo, { TMPDIR = folder })
  terminal:has("// draft: greetings, not saved yet", "the unsaved work")
  terminal:has("▎ demo-agent · #1 · 3 left · +1 -1 · \\ha accept · \\hr reject", "the offer")
  terminal:has('  farewell("world");', "all of it")
  local playing = vim.fn.systemlist({ "pgrep", "-f", folder })
  t.ok(#playing >= 3, "Neovim, the sidecar and the router: " .. vim.inspect(playing))
  terminal:keys(":Hashline next", "Enter")
  terminal:keys(":Hashline accept", "Enter")
  terminal:has("▎ demo-agent · #2 · 2 left")
  terminal:wait(function(screen)
    return not screen:find("· #1 · ", 1, true) and screen:find("return `Hello, ${name}!`;", 1, true)
  end, "the first is accepted")
  terminal:keys(":Hashline reject!", "Enter")
  terminal:wait(function(screen)
    return not screen:find("▎", 1, true)
  end, "the others are rejected")
  terminal:keys(":qa!", "Enter")
  terminal:ends("it ends with Neovim")
  t.wait(function()
    return #vim.fn.systemlist({ "pgrep", "-f", folder }) == 0
  end, "no process is left")
  t.eq(vim.fn.glob(folder .. "/hashline-demo-*"), "", "nor its folder")
  t.eq(vim.fn.globpath(folder, "hashline-[0-9]*/*"), "", "nor a socket")
end)
