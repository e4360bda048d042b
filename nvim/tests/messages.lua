--- Makes the sidecar's messages for tests.
local M = {}

M.ID = "3f2a9c1b-52f6-4d0e-9b1f-0a6d2f7c8e11"

--- The place of a hunk: M.at(1, 2) is line 1 (0-based), M.at(3, 3) the place before line 3.
function M.at(from, to)
  return { start = from, ["end"] = to }
end

--- A hunk; what is not said is as in a fresh proposal.
function M.hunk(fields)
  return vim.tbl_extend("keep", fields, {
    number = 1,
    state = "held",
    decision = "undecided",
    deciding = false,
    lines = vim.NIL,
    removed = {},
    proposed = {},
    partOf = vim.NIL,
    dependsOn = {},
    conflict = vim.NIL,
  })
end

--- An edit with these hunks, numbered in order unless they say otherwise.
function M.edit(hunks, more)
  for number, hunk in ipairs(hunks) do
    hunks[number] = M.hunk(vim.tbl_extend("keep", hunk, { number = number }))
  end
  return vim.tbl_extend("keep", more or {}, {
    id = M.ID,
    agent = "claude-code",
    conversation = "conv_1",
    tool = "edit_text_file",
    mode = "propose",
    status = "pending",
    hunks = hunks,
  })
end

--- What the sidecar has changed in a document: { { from_line, to_line, text } }, on whole lines.
function M.change(uri, version, edits)
  return {
    textDocument = { uri = uri, version = version },
    edits = vim.tbl_map(function(edit)
      return {
        range = { start = { line = edit[1], character = 0 }, ["end"] = { line = edit[2], character = 0 } },
        newText = edit[3],
      }
    end, edits),
  }
end

--- What there is to decide in a document.
function M.list(uri, version, edits, more)
  return vim.tbl_extend("keep", more or {}, {
    uri = uri,
    version = version,
    owner = vim.NIL,
    readOnly = false,
    edits = edits,
  })
end

return M
