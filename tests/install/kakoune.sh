#!/usr/bin/env bash
# Kakoune and its language client, under tests/.install/kakoune:
#   kak                the newest that Debian has, in the suite it is preparing; it moves on by itself
#   client/bin/kak-lsp compiled from its crate, some minutes the first time: no other package client has it
# Prints one line for each.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/debian.sh"

kakoune=$install_dir/kakoune
debian_into "$kakoune" forky kakoune
debian_program "$kakoune/kak" kak <<'SETTINGS'
export KAKOUNE_RUNTIME="$usr/share/kak"
SETTINGS
cargo_into "$kakoune/client" kak-lsp@22.0.0

printf '%s %s\n' "$kakoune/kak" "$(cat "$kakoune/versions")" # Debian builds a kak that does not know its own version
"$kakoune/client/bin/kak-lsp" --version
