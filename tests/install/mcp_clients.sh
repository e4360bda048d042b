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

python=$install_dir/python
sdk=mcp==2.3.0
if ! stamped "$python" "$sdk"; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    rm -rf "$python"
    quietly python3 -m venv "$python"
    quietly "$python/bin/python" -m pip install --only-binary :all: "$sdk"
    stamp "$python" "$sdk"
fi

npm_into "$install_dir/inspector" @modelcontextprotocol/inspector@2.12.0
npm_into "$install_dir/conformance" @modelcontextprotocol/conformance@0.1.16

"$python/bin/python" -c 'from importlib.metadata import version; print("mcp", version("mcp"))'
printf 'inspector 2.12.0, conformance 0.1.16, node %s\n' "$("$node_home/bin/node" --version)"
