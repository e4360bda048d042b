#!/bin/sh
# Installs hashline for the person who runs it, or takes it out again: see --help.
#
# It is made with the release whose archives it takes, and knows their hashes: what it was made for is what is installed.
set -eu

version='@VERSION@'
address='@ADDRESS@'
programs='@PROGRAMS@'
# The SHA-256 of each archive, and the target that it is for.
hashes='@HASHES@'

usage() {
    cat <<HELP
install.sh               put hashline $version into ~/.local/bin
install.sh --uninstall   take out what it has put there

HASHLINE_INSTALL_DIR=FOLDER   install there instead
HASHLINE_TARGET=TARGET        install for this target, as Rust names it, instead of the machine's
HELP
}

die() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

# The target of this machine, as Rust names it.
target_here() {
    case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) die "there is no hashline for the processor $(uname -m); build it from source" ;;
    esac
    case $(uname -s) in
    Linux)
        # What knows no glibc has another C library, such as Alpine; the program for that one has all it needs in it.
        if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then libc=gnu; else libc=musl; fi
        printf '%s\n' "$machine-unknown-linux-$libc"
        ;;
    Darwin) printf '%s\n' "$machine-apple-darwin" ;;
    *) die "this installs on Linux and macOS, and this is $(uname -s); take the archive from $address" ;;
    esac
}

# hash_for TARGET : the hash of its archive; nothing if there is none.
hash_for() {
    printf '%s\n' "$hashes" | while read -r hash name; do
        [ "$name" != "$1" ] || printf '%s\n' "$hash"
    done
}

# fetch URL FILE
fetch() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --output-document="$2" "$1"
    else
        die "neither curl nor wget is there to fetch with; install one of them"
    fi || die "could not fetch $1; try again, or fetch it by hand"
}

# hash_of FILE
hash_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        die "neither sha256sum nor shasum is there to check what was fetched; install one of them"
    fi
}

install_programs() {
    target=${HASHLINE_TARGET:-$(target_here)}
    hash=$(hash_for "$target")
    # A program that is linked with musl runs beside any other C library, too.
    if [ -z "$hash" ] && [ "$target" != "${target%-gnu}" ]; then
        target=${target%-gnu}-musl
        hash=$(hash_for "$target")
    fi
    [ -n "$hash" ] || die "this release has no hashline for ${HASHLINE_TARGET:-$(target_here)}; build it from source"

    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM
    fetch "$address/hashline-$version-$target.tar.gz" "$scratch/archive"
    [ "$(hash_of "$scratch/archive")" = "$hash" ] ||
        die "what lies at $address/hashline-$version-$target.tar.gz is not what was released; nothing was installed. Tell whoever runs that server"
    # shellcheck disable=SC2086 # several names
    tar -xzf "$scratch/archive" -C "$scratch" $programs
    "$scratch/hashline" --version >/dev/null ||
        die "hashline does not run on this machine, as said above; nothing was installed. Set HASHLINE_TARGET to another target, or build it from source"

    mkdir -p "$folder"
    for program in $programs; do
        # By a rename: what runs at the moment goes on with the old one.
        cp "$scratch/$program" "$folder/.$program.new"
        chmod 755 "$folder/.$program.new"
        mv -f "$folder/.$program.new" "$folder/$program"
        printf 'installed %s\n' "$folder/$program"
    done
    case :$PATH: in
    *:"$folder":*) ;;
    *) printf '%s is not on your PATH; put this into the file that your shell reads at its start:\n  export PATH="%s:$PATH"\n' "$folder" "$folder" ;;
    esac
    printf 'next: hashline setup --help (your agent), and the manual for your editor\n'
}

uninstall_programs() {
    for program in $programs; do
        [ -e "$folder/$program" ] || continue
        rm -f "$folder/$program"
        printf 'removed %s\n' "$folder/$program"
    done
    # Those that installing made, if nothing else is in them.
    rmdir "$folder" 2>/dev/null || true
    if [ -z "${HASHLINE_INSTALL_DIR:-}" ]; then rmdir "$HOME/.local" 2>/dev/null || true; fi
    printf 'Settings of agents and histories stay: hashline setup AGENT --remove, run before, takes out the first.\n'
}

folder=${HASHLINE_INSTALL_DIR:-$HOME/.local/bin}
case ${1:-} in
'') install_programs ;;
--uninstall) uninstall_programs ;;
-h | --help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
