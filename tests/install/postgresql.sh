#!/usr/bin/env bash
# PostgreSQL of Debian 13, for the registry's second store, under tests/.install/postgresql. Prints the folder of its programs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/debian.sh"

postgresql=$install_dir/postgresql
debian_into "$postgresql" trixie postgresql-17 postgresql-client-17
printf '%s\n' "$postgresql/root/usr/lib/postgresql/17/bin"
