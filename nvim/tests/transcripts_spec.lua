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

--- What a person does so that the plugin says this.
local function act(child, params)
  local bang = params.hunk == vim.NIL and params.lines == vim.NIL
  local range = ""
  if params.lines ~= vim.NIL then
    range = ("%d,%d"):format(params.lines.start + 1, params.lines["end"])
  elseif params.hunk ~= vim.NIL then
    child:lua(
      [[
        local document = require("hashline.state").of_buffer(vim.api.nvim_get_current_buf())
        for _, entry in ipairs(document.entries) do
          if vim.startswith(entry.edit.id, (...)) and entry.hunk.number == select(2, ...) then
            require("hashline.navigation").go(entry)
          end
        end
      ]],
      params.edit,
      params.hunk
    )
  end
  local ways = {
    keepMine = "Keep mine",
    takeTheirs = "Take the agent's",
    keepBoth = "Keep both",
    undo = "Undo it, my changes too",
    keep = "Undo it, keep my lines",
  }
  local way = ways[params.edited ~= vim.NIL and params.edited or params.decision]
  child:lua(
    [[
      local way = ...
      vim.ui.select = function(items, options, on_choice)
        for i, item in ipairs(items) do
          local label = options.format_item(item)
          if (way and vim.startswith(label, way)) or label:find(" needs$") then return on_choice(item, i) end
        end
        on_choice(nil)
      end
    ]],
    way
  )
  local verb = params.decision == "reject" and "reject" or "accept"
  local reason = params.reason ~= vim.NIL and params.reason or ""
  child:cmd(("%sHashline%s %s %s"):format(range, bang and "!" or "", verb, reason))
end

local function check_fields(message)
  local described = protocol.messages[message.method]
  t.ok(described, "not in protocol.lua: " .. tostring(message.method))
  local known = {}
  for _, field in ipairs(described.params) do
    known[field] = true
  end
  for field in pairs(message.params) do
    t.ok(known[field], ("%s has no field %s in protocol.lua"):format(message.method, field))
  end
end

local paths = vim.fn.sort(vim.fn.glob(t.repository .. "/editors/transcripts/*.jsonl", false, true))
assert(#paths > 0, "there are no transcripts")
for _, path in ipairs(paths) do
  t.test(vim.fs.basename(path), function()
    local messages, lines, uri = {}, {}, nil
    for line in io.lines(path) do
      messages[#messages + 1] = vim.json.decode(line)
    end
    for _, message in ipairs(messages) do
      if message.method then
        check_fields(message)
      end
      if message.method == "hashline/pendingEdits" and not uri then
        uri = message.params.uri
        for _, edit in ipairs(message.params.edits) do
          text_for(edit.hunks, lines)
        end
      end
    end
    local text = {}
    for row = 0, (lines.last or 0) do
      text[row + 1] = lines[row] or ("line " .. row + 1)
    end
    local child = t.start()
    -- The document's URI is that of the file that the test opened.
    local own = child:open(vim.fs.basename(uri or "x"), text)
    local function here(value)
      return vim.json.decode((vim.json.encode(value):gsub(vim.pesc((vim.json.encode(uri))), function()
        return vim.json.encode(own)
      end)))
    end
    local said = {}
    for index, message in ipairs(messages) do
      if message.from == "sidecar" and message.method == "hashline/pendingEdits" then
        local params = here(message.params)
        if params.version ~= vim.NIL and params.uri == own then
          params.version = child:version() -- the transcript's typing did not happen here
        end
        child:push(message.method, params)
        local shown = child:lua([[
          return vim.tbl_map(function(entry) return entry.name end,
            require("hashline.state").of_buffer(vim.api.nvim_get_current_buf()).entries)
        ]])
        local expected = {}
        for _, edit in ipairs(params.edits) do
          for _, hunk in ipairs(edit.hunks) do
            if hunk.state ~= "withdrawn" and (hunk.decision == "undecided" or hunk.deciding) then
              expected[#expected + 1] = edit.id .. ":" .. hunk.number
            end
          end
        end
        table.sort(shown)
        table.sort(expected)
        t.eq(shown, params.uri == own and expected or shown, "what is to decide after line " .. index)
      elseif message.from == "plugin" and message.method == "hashline/decide" then
        local answer = messages[index + 1]
        if answer and answer.to == message.method then
          child:answer(message.method, answer.result)
        end
        -- The plugin asks again after a refusal by itself: then the line was said already.
        said[message.method] = (said[message.method] or 0) + 1
        if #child:said(message.method) < said[message.method] then
          act(child, message.params)
        end
        t.wait(function()
          return #child:said(message.method) >= said[message.method]
        end, "line " .. index .. " is said")
        t.eq(child:said(message.method)[said[message.method]].params, here(message.params), "line " .. index)
      elseif message.from == "plugin" and message.method == "hashline/status" then
        child:answer(message.method, messages[index + 1].result)
        child:cmd("Hashline status")
        t.wait(function()
          return #child:said(message.method) > 0
        end, "line " .. index .. " is said")
      elseif message.from == "plugin" and message.method == "hashline/proposedText" then
        child:answer(message.method, messages[index + 1].result)
        child:cmd("Hashline diff")
        child:wait("#vim.api.nvim_list_wins() == 2")
        child:cmd("wincmd l | quit")
      elseif message.from == "plugin" and message.method == "hashline/undo" then
        child:type(message.params.kind == "undo" and "xu" or "<C-r>")
        t.wait(function()
          local marks = child:said(message.method)
          return #marks > 0 and marks[#marks].params.kind == message.params.kind
        end, "line " .. index .. " is said")
      end
    end
  end)
end
