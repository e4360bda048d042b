--- The runner itself: what it says of a test that fails, as CONTRIBUTING promises it and tests/run looks for it.
local t = ...
local patience = require("patience")

t.test("a failure is told by name at the beginning of a line, and in the count", function()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  for _, path in ipairs(vim.fn.glob(t.here .. "/*.lua", false, true)) do
    if not vim.endswith(path, "_spec.lua") then
      assert(vim.uv.fs_copyfile(path, vim.fs.joinpath(folder, vim.fs.basename(path))))
    end
  end
  local spec =
    { "local t = ...", "t.test('good', function() end)", "t.test('bad', function() error('no') end)" }
  vim.fn.writefile(spec, folder .. "/some_spec.lua")
  vim.fn.writefile({ "this is no Lua" }, folder .. "/unreadable_spec.lua")
  local run = vim
    .system({ vim.env.NVIM_BINARY, "--clean", "-n", "-i", "NONE", "-l", folder .. "/runner.lua" }, {
      text = true,
      env = { HASHLINE_ONLY = "" },
    })
    :wait(patience.LONGEST_MS)
  t.eq(run.code, 1)
  local said = vim.split(vim.trim(run.stdout), "\n")
  t.eq(said[#said], "1 passed, 2 failed, 0 skipped")
  local failed = vim.tbl_filter(function(line)
    return vim.startswith(line, "FAILED ")
  end, said)
  t.eq(#failed, 2, run.stdout)
  t.ok(vim.startswith(failed[1], "FAILED some: bad "), failed[1])
  t.ok(vim.startswith(failed[2], "FAILED unreadable: "), failed[2])
end)
