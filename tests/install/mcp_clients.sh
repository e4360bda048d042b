#!/usr/bin/env bash
# MCP clients that others wrote, for checking that hashline speaks the protocol and not a dialect of its own:
#   tests/.install/python/bin/python   with the Python SDK, which speaks both eras of the protocol
#   tests/.install/inspector           MCP Inspector
#   tests/.install/conformance         the protocol's own conformance checks
#   tests/.install/node                the Node.js that both want
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/node.sh"
. "$here/python.sh"

npm_into "$install_dir/inspector" @modelcontextprotocol/inspector@2.12.0
npm_into "$install_dir/conformance" @modelcontextprotocol/conformance@0.1.16

printf 'inspector 2.12.0, conformance 0.1.16, node %s\n' "$("$node_home/bin/node" --version)"
