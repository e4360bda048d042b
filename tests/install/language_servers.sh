#!/usr/bin/env bash
# Language servers of others, which hashline has to get along with, under tests/.install/language_servers:
#   bin/ruff   a language server for Python
#   bin/rass   rassumfrassum, which makes one language server of several, for editors that take only one
# Prints one line for each.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/python.sh"

servers=$install_dir/language_servers
pip_into "$servers/ruff" ruff==0.17.6
pip_into "$servers/rass" rassumfrassum==0.3.5
mkdir -p "$servers/bin"
ln -sfn ../ruff/bin/ruff "$servers/bin/ruff"
# shellcheck disable=SC2154 # python.sh sets it
executable "$servers/bin/rass" <<SCRIPT
#!/bin/sh
PYTHONPATH="$servers/rass" exec "$python/bin/python" -m rassumfrassum "\$@"
SCRIPT
"$servers/bin/ruff" --version
"$servers/bin/rass" --version
