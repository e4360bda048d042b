---@meta
--- The settings as types, for `vim.g.hashline` and `setup()`. The schema in config.lua writes this file.

---@class hashline.Rule
---@field agent? string
---@field glob? string
---@field mode "propose"|"apply"

---@class hashline.Settings
---@field enabled? boolean Start the sidecar for file buffers. `b:hashline_enabled` says it for one buffer.
---@field binary? string The hashline binary. Empty: $HASHLINE_BIN, then the build of the repository that the plugin lies in, then $PATH.
---@field binary_hash? string The hash that the binary has to have ("sha256:" and 64 digits): it is looked at before each start, and with any other the last one that had it runs instead, or none. Empty: any will do.
---@field root_markers? (string|string[])[] What marks a project's folder, as for |vim.fs.root()|, the first group that is found counts. With none found it is the working directory.
---@field signs? boolean Signs beside lines that an edit replaces (-) or made (+), where it inserts or took lines away (_), and at conflicts (!).
---@field hints? boolean The keys or commands in the line that introduces a hunk.
---@field keys? boolean Keys for reviewing, while something is to be reviewed: see |hashline-maps|.
---@field max_lines? integer Show at most so many lines of one hunk, and no more than a window has room for; `:Hashline diff` shows all.
---@field notify? boolean A message when agents do something in files that are not open, and once for each connection of an agent that proposes edits.
---@field mode? hashline.Settings.mode
---@field saveAfterAccept? "never"|"ifClean"|"always" Write the file after an acceptance: never, if it had no unsaved changes before, or always.
---@field diagnostics? boolean Show the sidecar's diagnostics of pending edits, too; the hunks are drawn without them.
---@field noHardLinks? boolean Refuse agents files with more than one name (hard links), since another name may lie outside the folder. Works only on Unix.
---@field ideLink? boolean Let Claude Code find this Neovim by its IDE link, so that what it asks about before an edit is held here.
---@field http? hashline.Settings.http

---@class hashline.Settings.mode
---@field open? "propose"|"apply" What happens with edits of open documents: held until accepted (propose) or put into the text at once (apply).
---@field disk? "propose"|"apply" The same for documents that are not open.
---@field rules? hashline.Rule[] Other modes for some agents or files, as in { { agent = "codex", glob = "docs/**", mode = "apply" } }; the last that matches wins.
---@field hold? string[] Globs of more files whose edits are held in every mode, as in { "deploy/**" }, besides those that programs act on by themselves (.envrc, .nvim.lua, the settings of agents and so on).

---@class hashline.Settings.http
---@field listen? string Serve agents over HTTP at this address (127.0.0.1:8437) while Neovim runs. An agent's token from `hashline token` limits what it may do. Empty: do not serve.
