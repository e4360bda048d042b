#!/usr/bin/env bash
# What wheels are tried with: uv, and with the argument `checks` twine, which looks at them as PyPI does at what is uploaded:
#   tests/.install/uv/bin/uv
#   tests/.install/twine/bin/python -m twine
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
pip_into "$install_dir/uv" uv==0.13.9
"$install_dir/uv/bin/uv" --version
needs_venv
[ "${1:-}" = checks ] || exit 0

twine=$install_dir/twine
venv_into "$twine" twine==7.0.0
"$twine/bin/python" -m twine --version
