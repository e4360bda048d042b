#!/usr/bin/env bash
# minisign, which signs releases. Only the machine's own packages have it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v minisign >/dev/null || apt_install minisign
minisign -v
