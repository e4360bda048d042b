#!/usr/bin/env bash
# tmux, for tests that look at the screen a person would see. Only the machine's own packages have it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v tmux >/dev/null || apt_install tmux
tmux -V
