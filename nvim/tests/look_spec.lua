--- What a person sees.
local t = ...

local AGENT = "claude-code"

local function edit(hunks, more)
  local made = {}
  for number, hunk in ipairs(hunks) do
    made[number] = vim.tbl_extend("force", {
      number = number,
      state = "held",
      decision = "undecided",
      deciding = false,
      removed = {},
      proposed = {},
      dependsOn = {},
      conflict = vim.NIL,
    }, hunk)
  end
  return vim.tbl_extend("force", {
    id = "3f2a9c1b-52f6-4d0e-9b1f-0a6d2f7c8e11",
    agent = AGENT,
    conversation = "conv_1",
    tool = "edit_text_file",
    mode = "propose",
    status = "pending",
    hunks = made,
  }, more or {})
end

local function list(uri, version, edits, more)
  return vim.tbl_extend("force", { uri = uri, version = version, owner = vim.NIL, readOnly = false, edits = edits }, more or {})
end

t.test("held hunks: replaced lines, the proposal below them, an insertion", function()
  local child = t.start()
  local uri = child:open("greet.js", { "function greet() {", '  return "world";', "}", "", "greet();" })
  child:push("hashline/pendingEdits", list(uri, 0, {
    edit({
      { lines = { start = 1, ["end"] = 2 }, removed = { '  return "world";' }, proposed = { '  return "hello";' } },
      { lines = { start = 3, ["end"] = 3 }, proposed = { "", "// greets" } },
    }),
  }))
  t.screen(child, "held")
end)
