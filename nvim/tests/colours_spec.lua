--- The colours of added and removed lines, in the colour schemes that Neovim comes with.
local t = ...
local colours = require("hashline.colours")

local NAMES = { "HashlineAdded", "HashlineRemoved", "HashlineAddedWord", "HashlineRemovedWord" }

local ASK = [[
  local names = ...
  local found = { normal = vim.api.nvim_get_hl(0, { name = "Normal" }), dark = vim.o.background == "dark" }
  for _, name in ipairs(names) do
    found[name] = vim.api.nvim_get_hl(0, { name = name, link = false })
  end
  return found
]]

---@param child Child
---@param what string
local function check(child, what)
  local found = child:lua(ASK, NAMES)
  -- Schemes without a Normal are for a terminal's own colours.
  local text = found.normal.fg or (found.dark and 0xffffff or 0)
  local behind = found.normal.bg or (found.dark and 0 or 0xffffff)
  local seen = {}
  for _, name in ipairs(NAMES) do
    seen[name] = found[name].bg or error(("%s: %s has no background"):format(what, name))
    local contrast = colours.contrast(text, seen[name])
    t.ok(contrast >= 4.5, ("%s: text on %s has a contrast of %.2f"):format(what, name, contrast))
    local apart = colours.contrast(behind, seen[name])
    t.ok(apart >= 1.1, ("%s: %s is seen by a contrast of %.2f"):format(what, name, apart))
  end
  for _, case in ipairs({
    { "HashlineAdded", "HashlineRemoved" },
    { "HashlineAddedWord", "HashlineAdded" },
    { "HashlineRemovedWord", "HashlineRemoved" },
  }) do
    local apart = colours.contrast(seen[case[1]], seen[case[2]])
    t.ok(apart >= 1.12, ("%s: %s from %s by %.2f"):format(what, case[1], case[2], apart))
  end
  t.ok(
    colours.luminance(seen.HashlineAdded) > colours.luminance(seen.HashlineRemoved),
    what .. ": what is added is the lighter"
  )
  return seen
end

t.test(
  "every scheme, dark and light: text can be read, and added is told from removed by lightness",
  function()
    local child = t.start()
    child:open("a.txt", { "x" })
    local schemes = child:lua("return vim.fn.getcompletion('', 'color')")
    t.ok(#schemes > 15, vim.inspect(schemes))
    local different = {}
    for _, background in ipairs({ "dark", "light" }) do
      for _, scheme in ipairs(schemes) do
        child:cmd(("set background=%s | colorscheme %s"):format(background, scheme))
        child:settle()
        different[check(child, scheme .. ", " .. background).HashlineAdded] = true
      end
    end
    t.ok(vim.tbl_count(different) > 10, "they follow the scheme")
  end
)

t.test("dark and light by themselves, without another scheme", function()
  local child = t.start()
  child:open("a.txt", { "x" })
  local dark = check(child, "dark")
  child:cmd("set background=light")
  child:settle()
  local light = check(child, "light")
  t.ok(colours.luminance(light.HashlineAdded) > colours.luminance(dark.HashlineAdded))
end)

t.test("a theme that hardly tells added from removed by hue, or has none: green and red", function()
  local child = t.start()
  child:open("a.txt", { "x" })
  for _, case in ipairs({ { "#104020", "#104010" }, { "#404040", "#000050" }, { "NONE", "NONE" } }) do
    child:cmd(("highlight clear DiffAdd | highlight DiffAdd guibg=%s"):format(case[1]))
    child:cmd(("highlight clear DiffDelete | highlight DiffDelete guibg=%s guifg=NONE"):format(case[2]))
    child:lua("require('hashline.colours').define()")
    local seen = check(child, vim.inspect(case))
    local function reddish(colour)
      return math.floor(colour / 65536) > math.floor(colour / 256) % 256
    end
    t.eq({ reddish(seen.HashlineAdded), reddish(seen.HashlineRemoved) }, { false, true }, vim.inspect(case))
  end
end)

t.test("a group that is defined by somebody else stays so", function()
  local child = t.start()
  child:cmd("highlight HashlineAdded guibg=#123456")
  child:open("a.txt", { "x" })
  child:cmd("autocmd ColorScheme * highlight HashlineRemoved guibg=#654321")
  child:cmd("colorscheme habamax")
  child:cmd("highlight HashlineRemovedWord guibg=#abcdef")
  child:lua("require('hashline.colours').define()")
  local found = child:lua(ASK, NAMES)
  t.eq({ found.HashlineRemoved.bg, found.HashlineRemovedWord.bg }, { 0x654321, 0xabcdef })
  child = t.start()
  child:cmd("highlight HashlineAdded guibg=#123456")
  child:open("a.txt", { "x" })
  t.eq(child:lua(ASK, NAMES).HashlineAdded.bg, 0x123456)
end)

t.test(
  "in a terminal without these colours: those of the theme, with a background, and words underlined",
  function()
    local child = t.start()
    child:open("a.txt", { "x" })
    for _, scheme in ipairs({ "default", "habamax", "quiet" }) do
      child:cmd("colorscheme " .. scheme)
      local found = child:lua(ASK, NAMES)
      for _, name in ipairs(NAMES) do
        local cterm = found[name].cterm or {}
        t.ok(found[name].ctermbg or cterm.reverse, ("%s: %s has a background"):format(scheme, name))
        t.eq(cterm.underline or false, vim.endswith(name, "Word"), scheme .. ": " .. name)
      end
    end
  end
)
