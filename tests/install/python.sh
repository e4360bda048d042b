# shellcheck shell=bash
# Sourced after lib.sh. A Python with the SDK for MCP, by which tests speak as an agent does:
#   tests/.install/python/bin/python
# shellcheck disable=SC2154 # lib.sh sets it
python=$install_dir/python
venv_into "$python" mcp==2.3.0
"$python/bin/python" -c 'from importlib.metadata import version; print("mcp", version("mcp"))'
