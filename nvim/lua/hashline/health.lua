--- `:checkhealth hashline`
local M = {}

function M.check()
  local client, config = require("hashline.client"), require("hashline.config")
  local locator = require("hashline.locator")
  local health = vim.health

  health.start("hashline: Neovim")
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok(client.editor())
  else
    health.error("Neovim 0.11 or later is needed, this is " .. client.editor())
  end

  health.start("hashline: settings")
  local problems = config.problems()
  for _, problem in ipairs(problems) do
    health.warn(problem)
  end
  if #problems == 0 then
    health.ok("no setting is wrong")
  end

  health.start("hashline: binary")
  local found, sentence = locator.find(config.get("binary"), vim.env.HASHLINE_BIN)
  local start ---@type hashline.Trusted?
  if found then
    start, sentence = require("hashline.pinned_binary").verify(found, config.get("binary_hash"))
  end
  if found and start then
    if start.told then
      health.warn(start.told)
    end
    local command = vim.list_extend(vim.list_extend({}, start.command), { "--version" })
    local run = vim.system(command, { text = true, timeout = 5000 }):wait()
    start.close()
    local said = vim.trim(run.stdout or "")
    if run.code == 0 then
      health.ok(("%s (%s), found by %s"):format(found.path, said, found.source))
    else
      health.error(
        ("%s (found by %s) does not run: exit code %d %s"):format(
          found.path,
          found.source,
          run.code,
          vim.trim(run.stderr or "")
        )
      )
    end
  else
    health.error(sentence --[[@as string]])
  end

  health.start("hashline: sidecars")
  local clients = vim.lsp.get_clients({ name = "hashline" })
  if #clients == 0 then
    health.warn("none is running: open a file, or see above why not")
  end
  for _, running in ipairs(clients) do
    local theirs = vim.tbl_get(running.server_capabilities, "experimental", "hashline")
    local where = ("%s, %d buffers"):format(running.root_dir, vim.tbl_count(running.attached_buffers))
    local wrong = client.mismatch(running)
    if wrong then
      health.error(("%s: %s"):format(where, wrong))
    else
      health.ok(("%s: version %s, protocol %d"):format(where, tostring(theirs.version), theirs.protocol))
    end
  end
  health.info("plugin version " .. client.version .. "; the log is " .. vim.lsp.log.get_filename())
end

return M
