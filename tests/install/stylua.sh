#!/usr/bin/env bash
# StyLua, the formatter of the plugin's Lua, as tests/.install/stylua/bin/stylua: npm carries the program of each platform.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
npm_into "$install_dir/stylua" @johnnymorganz/stylua-bin@2.5.2
mkdir -p "$install_dir/stylua/bin"
ln -sfn ../node_modules/.bin/stylua "$install_dir/stylua/bin/stylua"
"$install_dir/stylua/bin/stylua" --version
