#!/usr/bin/env bash
# A real VS Code, for tests of the extension in the workbench that people use. npm has it inside code-server: the server
# with its Node.js extension host, and the workbench that it gives to a browser. (An Electron build is in no package client.)
#   tests/.install/vscode/server   the VS Code server; out/server-main.js starts it
#   tests/.install/node            the Node.js that it wants
# The browser is the machine's Chromium, or Debian's; what drives it is among the extension's own development tools.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/node.sh"

command -v chromium >/dev/null || apt_install chromium fonts-dejavu-core
command -v chromium >/dev/null || die "this machine lacks Chromium, and apt has no package of that name"

vscode=$install_dir/vscode
version=4.139.1
# What no test reaches, and what would be most of the weight: AI assistants and their sandboxes, dev containers, Kerberos, other
# systems' parts, the search through files. The parts in C++ that would have to be compiled are loaded when they are there.
unwanted=(@devcontainers/cli @github/copilot-sdk @microsoft/mxc-sdk @vscode/copilot-api @vscode/deviceid @vscode/fs-copyfile
    @vscode/native-watchdog @vscode/ripgrep-universal @vscode/sandbox-runtime @vscode/spdlog @vscode/sqlite3
    @vscode/windows-process-tree @vscode/windows-registry kerberos ssh2)
# Of the extensions that come with it those that tests meet: languages, a theme, notebooks.
wanted=(javascript json markdown-basics theme-defaults ipynb)

server=$vscode/server
if ! stamped "$server" "$version" "${unwanted[*]}" "${wanted[*]}"; then
    rm -rf "$vscode/package" "$server"
    mkdir -p "$vscode"
    quietly npm pack "code-server@$version" --pack-destination "$vscode"
    tar -xzf "$vscode/code-server-$version.tgz" -C "$vscode" package/lib/vscode
    rm "$vscode/code-server-$version.tgz"
    mv "$vscode/package/lib/vscode" "$server"
    rmdir -p --ignore-fail-on-non-empty "$vscode/package/lib"
    for extension in "$server"/extensions/*; do
        [[ " ${wanted[*]} " == *" ${extension##*/} "* ]] || rm -rf "$extension"
    done
    quietly npm pkg delete --prefix "$server" "${unwanted[@]/#/dependencies.}"
    quietly npm install --prefix "$server" --omit=dev --ignore-scripts --no-audit --no-fund --no-update-notifier
    stamp "$server" "$version" "${unwanted[*]}" "${wanted[*]}"
fi

printf 'VS Code %s\n' "$("$node_home/bin/node" -p 'require(process.argv[1]).version' "$server/package.json")"
chromium --version 2>/dev/null # its wrapper complains of machines with much memory
