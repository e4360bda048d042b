--- The runner itself: what it says of a test that fails, as CONTRIBUTING promises it and tests/run looks for it.
local t = ...

t.test("a failure is told by name at the beginning of a line, and in the count", function()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  for _, name in ipairs({ "runner", "agent", "child", "terminal" }) do
    assert(vim.uv.fs_copyfile(("%s/%s.lua"):format(t.here, name), ("%s/%s.lua"):format(folder, name)))
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
    :wait(10000)
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
