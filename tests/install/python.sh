# shellcheck shell=bash
# Sourced after lib.sh. A Python with the SDK for MCP, by which tests speak as an agent does:
#   tests/.install/python/bin/python
# shellcheck disable=SC2154 # lib.sh sets it
python=$install_dir/python
sdk=mcp==2.3.0
if ! stamped "$python" "$sdk"; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    rm -rf "$python"
    quietly python3 -m venv "$python"
    quietly "$python/bin/python" -m pip install --only-binary :all: "$sdk"
    stamp "$python" "$sdk"
fi
"$python/bin/python" -c 'from importlib.metadata import version; print("mcp", version("mcp"))'
