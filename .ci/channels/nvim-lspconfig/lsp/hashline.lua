---@brief
---
--- hashline lets coding agents edit the text that is in the editor, unsaved work included. Each of their edits is a hunk that you
--- accept or reject with a code action.
---
--- It needs the program `hashline` on the path, and attaches to files of every type in a project. With hashline's own plugin for Neovim,
--- which starts the program itself, do not enable this.

---@type vim.lsp.Config
return {
  cmd = { "hashline", "lsp" },
  root_markers = { ".git" },
}
