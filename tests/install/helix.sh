#!/usr/bin/env bash
# The two Helixes that hashline is tested with, under tests/.install/helix:
#   oldest/hx   25.01.1, of Debian 13; it reports changes out of order when somebody types fast
#   newest/hx   the newest that Debian has, in the suite it is preparing; it moves on by itself
# Prints one line for each: its path and what it says of its version.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/debian.sh"

# helix_of SUITE FOLDER : the Helix of a suite of Debian.
helix_of() {
    local suite=$1 folder=$2
    debian_into "$folder" "$suite" hx
    debian_program "$folder/hx" hx <<'SETTINGS'
export HELIX_RUNTIME="$usr/lib/hx/runtime"
SETTINGS
    printf '%s %s\n' "$folder/hx" "$("$folder/hx" --version)"
}

helix_of trixie "$install_dir/helix/oldest"
helix_of forky "$install_dir/helix/newest"
