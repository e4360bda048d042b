--- A real terminal: what a person sees, and keys as a person presses them.
local t = ...
local Terminal = require("terminal")

local INIT = [[
vim.opt.runtimepath:prepend(vim.env.HASHLINE_NVIM)
vim.g.hashline = { binary = vim.env.HASHLINE_NVIM .. "/tests/fake_sidecar" }
vim.cmd("set laststatus=0 noruler noshowcmd noswapfile shortmess+=I | syntax off")
vim.o.termguicolors = true
for group, colour in pairs({ HashlineAdded = "#003300", HashlineRemoved = "#330000" }) do
  vim.api.nvim_set_hl(0, group, { fg = "#ffffff", bg = colour })
end
package.path = vim.env.HASHLINE_NVIM .. "/tests/?.lua;" .. package.path
vim.keymap.set("n", "]h", "<Plug>(HashlineNext)")
vim.keymap.set("n", "ga", "<Plug>(HashlineAccept)")
local messages = require("messages")
vim.api.nvim_create_autocmd("LspAttach", {
  callback = function()
    local client = vim.lsp.get_clients({ name = "hashline" })[1]
    local function push(version, hunks)
      client:notify("fake/push", {
        method = "hashline/pendingEdits",
        params = messages.list(vim.uri_from_bufnr(0), version, { messages.edit(hunks) }),
      })
    end
    local first = { lines = messages.at(1, 2), removed = { '  return "world";' }, proposed = { '  return "hello";' } }
    local second = { lines = messages.at(3, 3), proposed = { "", "greet();" } }
    push(0, { first, second })
    -- What a sidecar does when the first hunk is accepted.
    local request = client.request
    client.request = function(self, method, params, ...)
      if method == "hashline/decide" then
        vim.schedule(function()
          request(self, "fake/ask", {
            method = "workspace/applyEdit",
            params = { edit = { documentChanges = { {
              textDocument = { uri = vim.uri_from_bufnr(0), version = math.max(vim.lsp.util.buf_versions[1], 1) },
              edits = { { range = { start = { line = 1, character = 0 }, ["end"] = { line = 2, character = 0 } }, newText = '  return "hello";\n' } },
            } } } },
          }, function()
            first.state, first.decision = "inText", "accepted"
            push(vim.lsp.util.buf_versions[1], { first, second })
          end)
        end)
      end
      return request(self, method, params, ...)
    end
  end,
})
]]

t.test("a held edit is seen, found, accepted and taken back by keys", function()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  vim.fn.writefile(vim.split(INIT, "\n"), folder .. "/init.lua")
  vim.fn.writefile({ "function greet() {", '  return "world";', "}" }, folder .. "/greet.js")
  local nvim = { vim.env.NVIM_BINARY, "-n", "-i", "NONE", "--clean", "-u", "init.lua", "greet.js" }
  local terminal = Terminal.start({ 78, 12 }, folder, nvim, { HASHLINE_NVIM = vim.fs.dirname(t.here) })
  local held = {
    "  function greet() {",
    '-   return "world";',
    "  ▎ claude-code · #1 · 2 left · +1 -1 · ga accept · \\hr reject",
    '    return "hello";',
    "_ }",
    "  ▎ claude-code · #2 · 2 left · +2 · ga accept · \\hr reject",
    "",
    "  greet();",
    "~",
    "~",
    "~",
    "claude-code: 2 hunks here. :Hashline next",
  }
  terminal:begins(held, "the proposal and its notice")
  local colours = terminal:coloured()
  t.ok(colours:find("48;2;0;51;0", 1, true), "proposed lines have their colour")
  t.ok(colours:find("48;2;51;0;0", 1, true), "replaced lines have theirs")
  terminal:keys("]h")
  held[12] = "#1 · 2 left · claude-code · line 2 · +1 -1 · held"
  terminal:begins(held, "the place")
  terminal:keys("ga")
  local accepted = {
    "  function greet() {",
    '    return "hello";',
    "_ }",
    "  ▎ claude-code · #2 · 1 left · +2 · ga accept · \\hr reject",
    "",
    "  greet();",
  }
  terminal:begins(accepted, "the acceptance")
  terminal:keys("u")
  accepted[2] = '    return "world";'
  terminal:begins(accepted, "the acceptance taken back")
end)
