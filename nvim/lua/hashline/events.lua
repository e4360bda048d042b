--- User autocommands that say what happened to hunks: they were offered, accepted, rejected.
local M = {}

---@type table<string, { client_id: integer, outcome: string }> by hunk name: what was said of it here and is not seen yet
local asked = {}
---@type table<string, { client_id: integer, decisions: table<string, string> }> by document: the hunks that it had
local known = {}

---@type table<string, "accepted"|"rejected">
local OUTCOMES = {
  accept = "accepted",
  takeTheirs = "accepted",
  keepBoth = "accepted",
  reject = "rejected",
  keepMine = "rejected",
}

--- What a decision was said of: an edit that is decided altogether is in no list any more, and with it what became of it.
---@param client_id integer
---@param decision string
---@param names string[]
function M.asked(client_id, decision, names)
  local outcome = OUTCOMES[decision]
  for _, name in ipairs(names) do
    asked[name] = outcome and { client_id = client_id, outcome = outcome } or nil
  end
end

---@param refused hashline.Refusal[]
function M.refused(refused)
  for _, refusal in ipairs(refused) do
    asked[refusal.hunk] = nil
  end
end

--- A sidecar ended: what was asked of it may have been done or not.
---@param client_id integer
function M.forget(client_id)
  for _, what in ipairs({ asked, known }) do
    for key, value in pairs(what) do
      if value.client_id == client_id then
        what[key] = nil
      end
    end
  end
end

---@param event string
---@param document hashline.Document
---@param names string[]
local function tell(event, document, names)
  if #names == 0 then
    return
  end
  vim.api.nvim_exec_autocmds("User", {
    pattern = event,
    modeline = false,
    data = { uri = document.uri, buf = document.buf, hunks = vim.fn.sort(names) },
  })
end

--- How the hunks of a document stand: while a decision is under way, as before.
---@param document hashline.Document
---@param before table<string, string>
---@return table<string, string>
local function decisions_of(document, before)
  local found = {}
  for _, edit in ipairs(document.edits) do
    for _, hunk in ipairs(edit.hunks) do
      if hunk.state ~= "withdrawn" then
        local name = edit.id .. ":" .. hunk.number
        found[name] = hunk.deciding and (before[name] or "undecided") or hunk.decision
      end
    end
  end
  return found
end

---@param document hashline.Document
function M.update(document)
  local before = (known[document.key] or {}).decisions or {}
  local now = decisions_of(document, before)
  known[document.key] = next(now) and { client_id = document.client_id, decisions = now } or nil
  local offered, decided = {}, { accepted = {}, rejected = {} }
  for name, decision in pairs(now) do
    if decision == "undecided" and before[name] ~= "undecided" then
      offered[#offered + 1] = name -- for the first time, or reopened
    end
  end
  for name, decision in pairs(before) do
    local outcome = now[name] or (asked[name] or {}).outcome
    if outcome ~= decision and decided[outcome] then
      table.insert(decided[outcome], name)
      asked[name] = nil
    end
  end
  tell("HashlineOffered", document, offered)
  tell("HashlineAccepted", document, decided.accepted)
  tell("HashlineRejected", document, decided.rejected)
end

return M
