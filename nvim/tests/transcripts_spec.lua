--- The golden transcripts: the sidecar's lines are said, the plugin's lines have to come.
local t = ...
local protocol = require("hashline.protocol")

--- A document that fits what a transcript says of it.
local function text_for(hunks, lines)
  for _, hunk in ipairs(hunks) do
    local where = hunk.lines
    if where ~= vim.NIL then
      local present = (hunk.state == "inText" or hunk.state == "edited") and hunk.proposed or hunk.removed
      for row = where.start, where["end"] - 1 do
        lines[row] = present[row - where.start + 1]
      end
      lines.last = math.max(lines.last or 0, where["end"])
    end
  end
end

local function has(params, field)
  return params[field] ~= nil and params[field] ~= vim.NIL
end

--- Goes to the first hunk of the buffer that is meant, or to its line of the history.
local function go(child, edit, number)
  child:lua(
    [[
      local edit, number = ...
      local history = require("hashline.history")
      for row = 1, history.is_here() and vim.fn.line("$") or 0 do
        local place = history.places(row, row)[1]
        if place and place.entry.name == edit .. ":" .. number then
          return vim.api.nvim_win_set_cursor(0, { row, 0 })
        end
      end
      for _, entry in ipairs(require("hashline.state").of_buffer(vim.api.nvim_get_current_buf()).entries) do
        local of_it = vim.startswith(entry.edit.id, edit) or entry.edit.conversation == edit
        if of_it and (number == vim.NIL or entry.hunk.number == number) then
          return require("hashline.navigation").go(entry)
        end
      end
      error("it is not shown")
    ]],
    edit,
    number
  )
end

local WAYS = {
  keepMine = "Keep mine",
  takeTheirs = "Take the agent's",
  keepBoth = "Keep both",
  undo = "Undo it, my changes too",
  keep = "Undo it, keep my lines",
}

--- What a person does so that the plugin says this.
---@param own string the document that is open
local function act(child, params, own)
  local way = WAYS[has(params, "edited") and params.edited or params.decision]
  child:lua(
    [[
      local way = ...
      vim.ui.select = function(items, options, on_choice)
        for i, item in ipairs(items) do
          local label = options.format_item(item)
          local follows = label:find(" it builds on$") or label:find(" built on it$") or label:find(" others?$")
          if (way and vim.startswith(label, way)) or follows then return on_choice(item, i) end
        end
        on_choice(nil)
      end
    ]],
    way
  )
  if params.decision == "reopen" then
    return child:cmd("Hashline reopen")
  elseif has(params, "text") then
    go(child, params.edit, params.hunk)
    child:cmd("Hashline edit")
    child:lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)", params.text)
    return child:cmd("write")
  end
  local verb = { reject = "reject", comment = "comment" }
  local command = ("%s %s"):format(
    verb[params.decision] or "accept",
    has(params, "reason") and params.reason or ""
  )
  if has(params, "conversation") then
    go(child, params.conversation, vim.NIL)
    child:cmd("Hashline conversation " .. command)
  elseif params.uri ~= own then
    child:cmd("Hashline list")
    child:lua(
      [[
        for row, item in ipairs(vim.fn.getqflist()) do
          if item.user_data.hashline == ... then vim.api.nvim_win_set_cursor(0, { row, 0 }) end
        end
      ]],
      params.edit .. ":" .. params.hunk
    )
    child:cmd("Hashline " .. command)
    child:cmd("cclose")
  elseif has(params, "lines") then
    child:cmd(("%d,%dHashline %s"):format(params.lines.start + 1, params.lines["end"], command))
  elseif has(params, "hunk") then
    go(child, params.edit, params.hunk)
    child:cmd("Hashline " .. command)
  else
    child:cmd("Hashline! " .. command)
  end
end

local function check_fields(message)
  local described = protocol.messages[message.method]
  t.ok(described, "not in protocol.lua: " .. tostring(message.method))
  local known = {}
  for _, field in ipairs(described.params) do
    known[field] = true
  end
  for field in pairs(message.params ~= vim.NIL and message.params or {}) do
    t.ok(known[field], ("%s has no field %s in protocol.lua"):format(message.method, field))
  end
end

---@return table[] messages
local function read(path)
  local messages = {}
  for line in io.lines(path) do
    messages[#messages + 1] = vim.json.decode(line)
  end
  return messages
end

--- The lines of the document, as far as its first list tells.
local function text_of(list)
  local lines = {}
  for _, edit in ipairs(list.edits) do
    text_for(edit.hunks, lines)
  end
  local text = {}
  for row = 0, (lines.last or 0) do
    text[row + 1] = lines[row] or ("line " .. row + 1)
  end
  return text
end

local function expected_of(list)
  local expected = {}
  for _, edit in ipairs(list.edits) do
    for _, hunk in ipairs(edit.hunks) do
      local open = hunk.state ~= "withdrawn" and (hunk.decision == "undecided" or hunk.deciding)
      if open and not has(hunk, "partOf") then
        expected[#expected + 1] = edit.id .. ":" .. hunk.number
      end
    end
  end
  return vim.fn.sort(expected)
end

--- Says what the sidecar says, and looks at what there is to decide then.
local function hear(child, params, own, index)
  if params.uri == own then
    params.version = child:version() -- the transcript's typing did not happen here
  end
  child:push("hashline/pendingEdits", params)
  local shown = child:lua(
    [[
      local names = {}
      for _, place in ipairs(require("hashline.state").places()) do
        if place.document.uri == ... then table.insert(names, place.entry.name) end
      end
      return vim.fn.sort(names)
    ]],
    params.uri
  )
  t.eq(shown, expected_of(params), "what is to decide after line " .. index)
end

--- What the plugin says besides decisions, each by the command or key that makes it say so.
local others = {
  ["hashline/status"] = function(child, _, answer)
    child:answer("hashline/status", answer)
    child:cmd("Hashline status")
  end,
  ["hashline/proposedText"] = function(child, _, answer)
    child:answer("hashline/proposedText", answer)
    child:cmd("Hashline diff")
    child:wait("vim.fn.tabpagenr('$') == 2")
    child:cmd("wincmd l | quit")
  end,
  ["hashline/history"] = function(child, _, answer)
    for _ = 1, 5 do -- it is asked for anew with each list
      child:answer("hashline/history", answer)
    end
    child:cmd("Hashline history")
    child:wait("vim.bo.filetype == 'hashline'")
  end,
  ["hashline/cause"] = function(child, params)
    child:type(params.cause == "undo" and "xu" or "<C-r>")
  end,
}

local paths = vim.fn.sort(vim.fn.glob(t.repository .. "/editors/transcripts/*.jsonl", false, true))
assert(#paths > 0, "there are no transcripts")
for _, path in ipairs(paths) do
  t.test(vim.fs.basename(path), function()
    local messages = read(path)
    local uri = messages[1].params.uri
    local child = t.start()
    -- The document's URI is that of the file that the test opened.
    local own = child:open(vim.fs.basename(uri), text_of(messages[1].params))
    local function here(value)
      return vim.json.decode((vim.json.encode(value):gsub(vim.pesc((vim.json.encode(uri))), function()
        return vim.json.encode(own)
      end)))
    end
    local count = {}
    for index, message in ipairs(messages) do
      local method, answer = message.method, messages[index + 1]
      answer = answer and answer.to == method and answer.result
      if method then
        check_fields(message)
      end
      if method == "hashline/pendingEdits" then
        hear(child, here(message.params), own, index)
      elseif method then
        count[method] = (count[method] or 0) + 1
        if others[method] then
          others[method](child, message.params, answer)
        else
          if answer then
            child:answer(method, answer)
          end
          -- After a refusal it is the choice that says the next: then it was said already.
          child:settle()
          if #child:said(method) < count[method] then
            act(child, here(message.params), own)
          end
        end
        t.wait(function()
          return #child:said(method) >= count[method]
        end, "line " .. index .. " is said")
        local params = child:said(method)[count[method]].params
        if has(message, "params") then
          local expected = here(message.params)
          if method == "hashline/cause" then
            expected.version = child:version() -- as for lists: the change is another one here
          end
          t.eq(params, expected, "line " .. index)
        end
      end
    end
  end)
end
