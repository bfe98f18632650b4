#!/bin/sh
# Installs git-chronicle @VERSION@ for the current user, or removes it.
#
#   sh install.sh [--prefix DIR] [--musl] [--uninstall]
#
# DIR is ~/.local by default. The program goes to DIR/bin; manual pages, completions and licences go to DIR/share.
# --musl takes the build that needs no C library. CHRONICLE_DOWNLOAD_URL names another place to download from; the
# checksums below have to fit all the same.
set -eu

version='@VERSION@'
url="${CHRONICLE_DOWNLOAD_URL:-@URL@}"
sums="$(cat <<'SUMS'
@SUMS@
SUMS
)"

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints the target of this machine, as archives are named.
target() {
    case "$(uname -m)" in
        x86_64 | amd64) cpu=x86_64 ;;
        aarch64 | arm64) cpu=aarch64 ;;
        *) fail "there is no build for the processor $(uname -m)" ;;
    esac
    case "$(uname -s)" in
        Linux)
            if [ "$musl" = yes ] || ! is_new_glibc; then
                echo "$cpu-unknown-linux-musl"
            else
                echo "$cpu-unknown-linux-gnu"
            fi
            ;;
        Darwin) echo "$cpu-apple-darwin" ;;
        *) fail "there is no build for $(uname -s); on Windows use install.ps1" ;;
    esac
}

# The oldest C library that the usual build runs with is 2.34.
is_new_glibc() {
    glibc="$(getconf GNU_LIBC_VERSION 2>/dev/null || true)"
    minor="${glibc#glibc 2.}"
    case "$minor" in
        '' | *[!0-9]*) return 1 ;;
        *) [ "$minor" -ge 34 ] ;;
    esac
}

download() {
    if has curl; then
        curl -fsSL --retry 3 -o "$2" "$1"
    elif has wget; then
        wget -q -O "$2" "$1"
    else
        fail "curl or wget is needed"
    fi
}

sum_of() {
    if has sha256sum; then
        sha256sum "$1"
    elif has shasum; then
        shasum -a 256 "$1"
    else
        fail "sha256sum or shasum is needed"
    fi | cut -d ' ' -f 1
}

# Removes what an earlier run installed, by the list that it left.
remove() {
    list="$prefix/share/doc/git-chronicle/installed-files"
    [ -e "$list" ] || return 1
    while IFS= read -r file; do
        rm -f "$prefix/$file"
        leave "$file"
    done <"$list"
    rm -f "$list"
    leave share/doc/git-chronicle/installed-files
}

# Removes the folders that a file was in, as far as they are empty.
leave() {
    folder="$1"
    while [ "$folder" != "${folder%/*}" ]; do
        folder="${folder%/*}"
        rmdir "$prefix/$folder" 2>/dev/null || return 0
    done
}

usage() {
    echo "usage: sh install.sh [--prefix DIR] [--musl] [--uninstall]"
    echo
    echo "Installs git-chronicle $version into DIR/bin and DIR/share (DIR is ~/.local), or removes it."
    echo "--musl takes the build that needs no C library."
}

main() {
    prefix="$HOME/.local" musl=no uninstall=no
    while [ $# -gt 0 ]; do
        case "$1" in
            --prefix)
                [ $# -ge 2 ] || fail "--prefix needs a folder"
                prefix="$2"
                shift
                ;;
            --musl) musl=yes ;;
            --uninstall) uninstall=yes ;;
            -h | --help)
                usage
                return
                ;;
            *) fail "unknown argument: $1" ;;
        esac
        shift
    done

    if [ "$uninstall" = yes ]; then
        remove || fail "nothing of git-chronicle is installed in $prefix by this script"
        echo "Removed git-chronicle from $prefix. Notes and session memory stay."
        return
    fi

    has git || fail "git is needed, 2.30 or newer"
    name="git-chronicle-$version-$(target)"
    expected="$(printf '%s\n' "$sums" | sed -n "s/^\([0-9a-f]*\)  $name\.tar\.gz\$/\1/p")"
    [ -n "$expected" ] || fail "this release has no $name.tar.gz"

    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    download "$url/$name.tar.gz" "$work/archive.tar.gz" || fail "cannot download $url/$name.tar.gz"
    found="$(sum_of "$work/archive.tar.gz")"
    [ "$found" = "$expected" ] || fail "the checksum of $name.tar.gz is $found, and should be $expected"
    tar -xzf "$work/archive.tar.gz" -C "$work"
    "$work/$name/bin/git-chronicle" --version >/dev/null ||
        fail "the program does not run on this machine; try --musl"

    mkdir -p "$prefix" || fail "cannot write to $prefix"
    # Files of an earlier version that this one does not have must not stay.
    remove || true
    (cd "$work/$name" && find . -type f | sed 's|^\./||') >"$work/files"
    while IFS= read -r file; do
        mkdir -p "$prefix/$(dirname "$file")"
        # A program that runs cannot be written to, but another file can take its name.
        cp -p "$work/$name/$file" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
    done <"$work/files"
    cp "$work/files" "$prefix/share/doc/git-chronicle/installed-files"

    echo "Installed git-chronicle $version in $prefix."
    first="$(command -v git-chronicle || true)"
    if [ -z "$first" ]; then
        echo "Put it on your PATH, for example with this line in ~/.profile: export PATH=\"$prefix/bin:\$PATH\""
    elif [ "$first" != "$prefix/bin/git-chronicle" ]; then
        echo "warning: $first comes first on your PATH. Remove it, or put $prefix/bin before it." >&2
    fi
    echo "Next: git chronicle setup, once, and git chronicle init in each repository."
}

# Called at the end, so that a script that was cut while it was downloaded does nothing.
main "$@"
