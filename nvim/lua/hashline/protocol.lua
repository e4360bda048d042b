--- What this plugin and the sidecar say to each other beyond LSP: the mirror of editors/PROTOCOL.md.
---
--- A test of the sidecar reads this file as text and compares it with the page, so the three tables
--- are plain literals, one entry a line, strings in double quotes, and nothing is computed.
local M = {}

M.version = 2

-- stylua: ignore start
-- Who says it, of what kind it is, and its fields.
M.messages = {
  ["hashline/pendingEdits"] = { kind = "notification", from = "sidecar", params = { "uri", "version", "owner", "readOnly", "edits" } },
  ["hashline/waiting"] = { kind = "notification", from = "sidecar", params = { "agents" } },
  ["hashline/decide"] = { kind = "request", from = "plugin", params = { "decision", "uri", "edit", "hunk", "conversation", "lines", "reason", "text", "edited", "withOthers" }, result = { "queued", "refused" } },
  ["hashline/proposedText"] = { kind = "request", from = "plugin", params = { "uri" }, result = { "text", "version", "places" } },
  ["hashline/history"] = { kind = "request", from = "plugin", params = { "uri" }, result = { "version", "owner", "readOnly", "edits" } },
  ["hashline/cause"] = { kind = "notification", from = "plugin", params = { "uri", "version", "cause", "delivery" } },
  ["hashline/status"] = { kind = "request", from = "plugin", params = {}, result = { "version", "roots", "documents", "pending", "conflicted", "agents", "socket" } },
}

-- The fields of what is inside the messages.
M.types = {
  ["Announcement"] = { "protocol", "version" },
  ["Edit"] = { "id", "made", "agent", "connection", "conversation", "tool", "reason", "mode", "status", "hunks" },
  ["Hunk"] = { "number", "state", "decision", "reason", "deciding", "lines", "removed", "proposed", "partOf", "dependsOn", "conflict", "file", "ways" },
  ["Lines"] = { "start", "end" },
  ["Place"] = { "hunk", "lines", "replaced" },
  ["Refusal"] = { "hunk", "why", "message", "others" },
}

-- The values of the fields that have a closed set of them.
M.values = {
  ["Edit.mode"] = { "propose", "apply" },
  ["Edit.status"] = { "pending", "accepted", "rejected" },
  ["Hunk.state"] = { "held", "inText", "edited", "conflicted", "withdrawn" },
  ["Hunk.decision"] = { "undecided", "accepted", "rejected" },
  ["hashline/decide.decision"] = { "accept", "reject", "keepMine", "takeTheirs", "keepBoth", "reopen", "comment" },
  ["hashline/decide.edited"] = { "undo", "keep" },
  ["hashline/cause.cause"] = { "delivery", "undo", "redo", "reload", "saveConflict" },
  ["Refusal.why"] = { "conflicted", "edited", "needsOthers", "collides", "readOnly", "gone", "failed" },
}
-- stylua: ignore end

---@class hashline.Lines
---@field start integer 0-based
---@field end integer exclusive; equal to start: the place before that line

---@class hashline.Hunk
---@field number integer
---@field state "held"|"inText"|"edited"|"conflicted"|"withdrawn"
---@field decision "undecided"|"accepted"|"rejected"
---@field reason string? why it was decided so, as the person said, or what they said without deciding; some sidecars do not tell
---@field deciding boolean
---@field lines hashline.Lines?
---@field removed string[]
---@field proposed string[]
---@field partOf string? the hunk that it is shown and decided with
---@field dependsOn string[]
---@field conflict string?
---@field file string? what it does to the file itself, in words; it has no lines
---@field ways string[]? the decisions that can be made about it as it stands

---@class hashline.Edit
---@field id string
---@field made integer? when, in milliseconds since 1970; some sidecars do not tell
---@field agent string
---@field conversation string
---@field connection string? which of the agent's connections it came through; notices are grouped by it
---@field tool string
---@field reason? string why, as the agent says
---@field mode "propose"|"apply"
---@field status "pending"|"accepted"|"rejected"
---@field hunks hashline.Hunk[]

---@class hashline.PendingEdits
---@field uri string
---@field version integer?
---@field owner string?
---@field readOnly boolean
---@field edits hashline.Edit[]

---@class hashline.History
---@field version integer?
---@field owner string?
---@field readOnly boolean
---@field edits hashline.Edit[]

--- What a decision is about.
---@class hashline.Subject
---@field uri string?
---@field edit string?
---@field hunk integer?
---@field conversation string?
---@field lines hashline.Lines?

---@class hashline.Decision : hashline.Subject
---@field decision "accept"|"reject"|"keepMine"|"takeTheirs"|"keepBoth"|"reopen"|"comment"
---@field reason string?
---@field text string[]?
---@field edited "undo"|"keep"|nil
---@field withOthers boolean?

---@class hashline.Refusal
---@field hunk string
---@field why "conflicted"|"edited"|"needsOthers"|"collides"|"readOnly"|"gone"|"failed"
---@field message string
---@field others string[]

--- LSP has null where Lua has nothing: Neovim 0.12 leaves it in what it reads, 0.11 does not. It is taken out in place, as a list
--- may be long.
---@param value any
---@return any
function M.without_nulls(value)
  if type(value) == "table" then
    for key, inner in pairs(value) do
      if inner == vim.NIL then
        value[key] = nil
      elseif type(inner) == "table" then
        M.without_nulls(inner)
      end
    end
  end
  return value
end

--- Asks the sidecar. (Neovim's types know the methods of LSP alone.)
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param on_answer fun(failure: table?, result: table)
---@param buf integer?
function M.ask(client, method, params, on_answer, buf)
  client:request(method --[[@as any]], params, function(failure, result)
    on_answer(failure, M.without_nulls(result))
  end, buf)
end

--- A decision with every field of the page, null where nothing was said.
---@param decision hashline.Decision
---@return table
function M.decision(decision)
  local message = {} ---@type table<string, any>
  for _, field in ipairs(M.messages["hashline/decide"].params) do
    local value = decision[field] ---@type any
    if value == nil then
      value = vim.NIL
    end
    message[field] = value
  end
  message.withOthers = decision.withOthers == true
  return message
end

return M
