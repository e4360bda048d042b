#!/usr/bin/env bash
# The other tools that the benchmark measures beside hashline, under tests/.install/bench:
#   filesystem/node_modules/.bin/mcp-server-filesystem   the protocol's own file server (npm)
#   text-editor/bin/mcp-text-editor                      edits by line range and hash (PyPI)
# install.sh NAME brings one of them. Not part of tests/install, as no test needs them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../install/lib.sh"

bench=$install_dir/bench
mkdir -p "$bench"

case ${1:-} in
filesystem)
    npm_into "$bench/filesystem" @modelcontextprotocol/server-filesystem@2026.8.31
    ;;
text-editor)
    # It does not start with version 2 of the SDK that it is built on.
    venv_into "$bench/text-editor" mcp-text-editor==1.0.2 'mcp<2'
    ;;
*) die "usage: install.sh filesystem|text-editor" ;;
esac
