#!/usr/bin/env bash
# Emacs of Debian 13 with lsp-mode, under tests/.install/emacs:
#   emacs   30.1, which has eglot; lsp-mode and what that needs are on its load path
# Prints what they say of their versions.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/debian.sh"

emacs=$install_dir/emacs
debian_into "$emacs" trixie emacs-nox elpa-lsp-mode
debian_program "$emacs/emacs" emacs-nox <<'SETTINGS'
for own in "$usr"/share/emacs/[0-9]*; do :; done
for dump in "$usr"/libexec/emacs/*/*/*.pdmp; do :; done
EMACSLOADPATH=$(find "$own/lisp" "$usr/share/emacs/site-lisp/elpa-src" -type d -printf '%p:')
export EMACSLOADPATH EMACSPATH="${dump%/*}" EMACSDATA="$own/etc" EMACSDOC="$own/etc"
set -- --dump-file="$dump" "$@"
SETTINGS

# Debian compiles packages when it installs them; without that lsp-mode takes several seconds to start.
lisp=$emacs/root/usr/share/emacs/site-lisp/elpa-src
if ! stamped "$lisp" compiled; then
    quietly "$emacs/emacs" -Q --batch --eval \
        "(let (native-comp-enable-subr-trampolines) (byte-recompile-directory \"$lisp\" 0))"
    stamp "$lisp" compiled
fi

version=$("$emacs/emacs" --version)
printf '%s %s\n' "$emacs/emacs" "${version%%$'\n'*}"
grep lsp-mode "$emacs/versions"
