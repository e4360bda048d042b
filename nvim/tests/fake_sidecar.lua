--- An LSP server that does what a test tells it by messages under `fake/`: it says what it is told to say,
--- keeps the documents' text as didChange leaves it, and remembers what was said to it.
---   fake/push {method, params}         notification: sends it on to the client
---   fake/ask {method, params}          request: asks the client, answers with {result, error}
---   fake/answer {method, result}       notification: the next answers to a request of the client's
---   fake/hold {method}                 notification: the next request is answered when this comes again
---   fake/deliver {uri, count, think_ms} request: delivers edits while the person types
---   fake/said {method?}                request: what the client said so far, in order; a didChange with the text that it
---                                      makes, an answer with what was asked
---   fake/text {uri}                    request: text and version of a document
local input, output = vim.uv.new_pipe(), vim.uv.new_pipe()
input:open(0)
output:open(1)

local documents, said, answers, asked, held = {}, {}, {}, {}, {}
local last_id = 0

local function send(message)
  message.jsonrpc = "2.0"
  local body = vim.json.encode(message)
  output:write(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
end

local function offset(text, position)
  local at = 1
  for _ = 1, position.line do
    at = (text:find("\n", at, true) or #text) + 1
  end
  local line = text:sub(at):match("^[^\n]*")
  local column =
    vim.str_byteindex(line, "utf-16", math.min(position.character, vim.str_utfindex(line, "utf-16")), false)
  return at + column
end

local function change(document, changes)
  for _, part in ipairs(changes) do
    if part.range then
      local from, to = offset(document.text, part.range.start), offset(document.text, part.range["end"])
      document.text = document.text:sub(1, from - 1) .. part.text .. document.text:sub(to)
    else
      document.text = part.text
    end
  end
end

local results = {
  initialize = function()
    return {
      capabilities = {
        textDocumentSync = { openClose = true, change = 2, save = true },
        experimental = {
          hashline = { protocol = tonumber(vim.env.FAKE_SIDECAR_PROTOCOL or 2), version = "0.0.0" },
        },
      },
      serverInfo = { name = "hashline", version = "0.0.0" },
    }
  end,
  ["fake/said"] = function(params)
    -- As JSON in a string: Neovim drops the nulls of what it receives.
    return vim.json.encode(vim.tbl_filter(function(message)
      return not params.method or message.method == params.method
    end, said))
  end,
  ["fake/text"] = function(params)
    return documents[params.uri] or vim.NIL
  end,
  ["hashline/history"] = function()
    return { version = 0, readOnly = false, edits = {} }
  end,
  ["hashline/decide"] = function()
    return { queued = { "some:1" }, refused = {} }
  end,
}

--- Puts "NEW n" for "old n", one edit after the other: one in flight, made for the text as it is known
--- here, made anew when it was not applied. Answers with how often each had to be sent.
local function deliver_all(id, uri, count, think_ms)
  local sent, number = 0, 1
  local function step()
    if number > count then
      return send({ id = id, result = { sent = sent } })
    end
    local document = documents[uri]
    local before = document.text:sub(1, assert(document.text:find("old " .. number .. "\n", 1, true)) - 1)
    local _, line = before:gsub("\n", "")
    local version = math.max(document.version, 1)
    vim.defer_fn(function()
      sent = sent + 1
      last_id = last_id + 1
      asked[last_id] = function(answer)
        if answer.result.applied then
          number = number + 1
        end
        step()
      end
      local range = { start = { line = line, character = 0 }, ["end"] = { line = line + 1, character = 0 } }
      send({
        id = last_id,
        method = "workspace/applyEdit",
        params = {
          delivery = last_id,
          edit = {
            documentChanges = {
              {
                textDocument = { uri = uri, version = version },
                edits = { { range = range, newText = "NEW " .. number .. "\n" } },
              },
            },
          },
        },
      })
    end, think_ms)
  end
  step()
end

local function answer(message)
  local method = message.method
  local prepared = answers[method] and table.remove(answers[method], 1)
  if prepared then
    send({ id = message.id, result = prepared.result, error = prepared.error })
  elseif results[method] then
    send({ id = message.id, result = results[method](message.params) })
  else
    send({ id = message.id, result = vim.NIL })
  end
end

local function receive(message)
  local method, params = message.method, message.params
  if not method then
    local waiting = asked[message.id]
    asked[message.id] = nil
    if type(waiting) == "function" then
      return waiting(message)
    end
    said[#said + 1] = { answer_to = waiting.method, result = message.result }
    send({ id = waiting.id, result = { result = message.result, error = message.error } })
    return
  end
  if not vim.startswith(method, "fake/") then
    said[#said + 1] = { method = method, params = params }
  end
  if method == "fake/push" then
    send({ method = params.method, params = params.params })
  elseif method == "fake/ask" then
    last_id = last_id + 1
    asked[last_id] = { id = message.id, method = params.method }
    send({ id = last_id, method = params.method, params = params.params })
  elseif method == "fake/deliver" then
    deliver_all(message.id, params.uri, params.count, params.think_ms)
  elseif method == "fake/answer" then
    answers[params.method] = answers[params.method] or {}
    table.insert(answers[params.method], params)
  elseif method == "textDocument/didOpen" then
    documents[params.textDocument.uri] =
      { text = params.textDocument.text, version = params.textDocument.version }
  elseif method == "textDocument/didChange" then
    local document = documents[params.textDocument.uri]
    change(document, params.contentChanges)
    document.version = params.textDocument.version
    said[#said].text = document.text
  elseif method == "textDocument/didClose" then
    documents[params.textDocument.uri] = nil
  elseif method == "exit" then
    os.exit(0)
  elseif method == "fake/hold" then
    local waiting = held[params.method]
    held[params.method] = not waiting and {} or nil
    if waiting and waiting.id then
      answer(waiting)
    end
  elseif held[method] and not held[method].id then
    held[method] = message
  elseif message.id then
    answer(message)
  end
end

local buffer, finished = "", false
input:read_start(function(_, chunk)
  if not chunk then
    finished = true
    return
  end
  buffer = buffer .. chunk
  while true do
    local head, body = buffer:find("\r\n\r\n", 1, true)
    local length = head and tonumber(buffer:sub(1, head):match("[Cc]ontent%-[Ll]ength: (%d+)"))
    if not length or #buffer < body + length then
      return
    end
    local message = vim.json.decode(buffer:sub(body + 1, body + length))
    buffer = buffer:sub(body + length + 1)
    vim.schedule(function()
      receive(message)
    end)
  end
end)
while not finished do
  vim.wait(1000, function()
    return finished
  end, 2)
end
os.exit(0)
