--- The settings, what is said of them, and the binary that they name.
local t = ...
local config = require("hashline.config")
local locator = require("hashline.locator")

t.test("settings: defaults, and those that are right", function()
  local rules = { { agent = "codex", mode = "apply" }, { glob = "docs/**", mode = "propose" } }
  local markers = { ".git", { "Cargo.toml", "package.json" } }
  local values, problems =
    config.resolve({ mode = { open = "apply", rules = rules }, max_lines = 5, root_markers = markers })
  t.eq(problems, {})
  t.eq({ values["mode.open"], values["mode.disk"], values.max_lines }, { "apply", "apply", 5 })
  t.eq({ values["mode.rules"], values.root_markers }, { rules, markers })
  t.eq(values["mode.hold"], {})
  for _, setting in ipairs(config.schema) do
    t.eq(setting.kind.problem(setting.default), nil, setting.key .. ": the default is right")
  end
end)

for _, case in ipairs({
  { { signs = "yes" }, '`signs` is "yes"; expected a boolean' },
  { { max_lines = 0 }, "`max_lines` is 0; expected a whole number from 1" },
  { { max_lines = 1.5 }, "`max_lines` is 1.5; expected a whole number from 1" },
  { { mode = { open = "later" } }, '`mode.open` is "later"; expected one of "propose", "apply"' },
  { { mode = 3 }, "`mode` is 3; expected a table" },
  { { mode = { hold = { "deploy/**", 3 } } }, "(at `mode.hold[2]`); expected a list, each a string" },
  { { binary = { "x" } }, '`binary` is { "x" }; expected a string' },
  {
    { root_markers = { ".git", 4 } },
    '`root_markers` is { ".git", 4 } (at `root_markers[2]`); expected a list, each a string or a list, each a string',
  },
  {
    { mode = { rules = { { agent = "codex", mode = "apply" }, { agent = "codex" } } } },
    "(at `mode.rules[2].mode`); expected a list, each a table of `mode`",
  },
  {
    { binary_hash = "ba7816bf" },
    '`binary_hash` is "ba7816bf"; expected a hash ("sha256:" and 64 hex digits',
  },
  {
    { mode = { rules = { { globs = "x", mode = "apply" } } } },
    "(at `mode.rules[1].globs`); expected a list",
  },
  { { colour = 3 }, "there is no setting `colour` (found 3); expected one of enabled, binary," },
  { { http = { port = 1 } }, "there is no setting `http.port` (found 1); expected one of enabled, binary," },
  { "x", 'the settings are "x"; expected a table' },
}) do
  t.test("a setting that is wrong: " .. case[2], function()
    local values, problems = config.resolve(case[1])
    t.eq(#problems, 1)
    t.ok(problems[1]:find(case[2], 1, true), problems[1])
    for _, setting in ipairs(config.schema) do
      t.eq(values[setting.key], setting.default, setting.key .. " stays at its default")
    end
  end)
end

t.test("each setting, when it is wrong, is named with what was expected", function()
  for _, setting in ipairs(config.schema) do
    local given = 0.5 -- which none may be
    for _, part in ipairs(vim.fn.reverse(vim.split(setting.key, ".", { plain = true }))) do
      given = { [part] = given }
    end
    local _, problems = config.resolve(given)
    t.eq(#problems, 1, setting.key)
    local wanted = ("`%s` is 0.5; expected %s"):format(setting.key, setting.kind.name)
    t.ok(problems[1]:find(wanted, 1, true), problems[1])
  end
end)

t.test("the binary: setting, environment, and a sentence when there is none", function()
  local sh = vim.fn.exepath("sh")
  t.eq(locator.find(sh, nil), { path = sh, source = "the setting `binary`" })
  t.eq(locator.find("", sh), { path = sh, source = "$HASHLINE_BIN" })
  local found, sentence = locator.find("/no/such/file", nil)
  t.eq(found, nil)
  t.ok(sentence:find("the setting `binary` says /no/such/file", 1, true), sentence)
end)

t.test("the help page and the types have every setting as the schema says it", function()
  local plugin = vim.fs.dirname(t.here)
  local help = table.concat(vim.fn.readfile(plugin .. "/doc/hashline.txt"), "\n")
  t.ok(help:find(table.concat(config.help(), "\n"), 1, true), "regenerate with nvim/tests/help.lua")
  t.eq(
    vim.fn.readfile(plugin .. "/lua/hashline/settings_types.lua"),
    config.types(),
    "regenerate with nvim/tests/help.lua"
  )
end)
