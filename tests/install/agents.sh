#!/usr/bin/env bash
# Agent programs that people use, for checking that each reads the configuration that `hashline setup` writes, connects, and edits:
#   tests/.install/agents/bin     their commands; no account is needed, and the tests stand in for the models
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case $(uname -s)-$(uname -m) in
Linux-x86_64) kind=linux-x64 ;;
Linux-aarch64) kind=linux-arm64 ;;
*) die "no agent packages known for $(uname -s) $(uname -m)" ;;
esac

agents=$install_dir/agents
mkdir -p "$agents/bin"

# into NAME PACKAGE COMMAND : some packages have a launcher that only their install scripts complete; the program itself is in the
# package of its platform.
into() {
    npm_into "$agents/$1" "$2"
    [ -x "$agents/$1/node_modules/$3" ] || die "$2 has no $3"
    ln -sfn "../$1/node_modules/$3" "$agents/bin/$1"
}

into claude-code @anthropic-ai/claude-code@2.1.197 "@anthropic-ai/claude-code-$kind/claude"
into codex @openai/codex@0.169.0 .bin/codex
into gemini @google/gemini-cli@0.61.0 .bin/gemini
into opencode opencode-ai@1.18.33 "opencode-$kind/bin/opencode"
