# shellcheck shell=bash
# What all packages are called, and where they are from. Sourced by the other scripts.

# The top of the repository.
TOP="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# The value of `$1 = "…"` in the workspace's manifest, where it comes first.
manifest() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$TOP/Cargo.toml" | head -n 1; }

PROGRAM=git-chronicle
# How the npm package is called, and the crate if it is published: the name of the program belongs to another there.
# shellcheck disable=SC2034 # for those who source this
PACKAGE=chronicle-notes
VERSION="$(manifest version)"
# shellcheck disable=SC2034 # for those who source this
SUMMARY="Remembers why code is the way it is, for people and coding agents"
# shellcheck disable=SC2034 # for those who source this
LICENSE="$(manifest license)"
HOMEPAGE="${CHRONICLE_HOMEPAGE:-$(manifest repository)}"
# The folder on the web where the files of this release are.
# shellcheck disable=SC2034 # for those who source this
RELEASE_URL="${CHRONICLE_RELEASE_URL:-$HOMEPAGE/releases/download/v$VERSION}"
# shellcheck disable=SC2034 # for those who source this
MAINTAINER="${CHRONICLE_MAINTAINER:-Chronicle maintainers <maintainers@example.invalid>}"

# The date of all files: that of the commit, so that two builds of one commit give the same bytes.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$TOP" log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH

# The name of the archive of target $1, without its ending.
# shellcheck disable=SC2329 # for those who source this
archive_name() { printf '%s-%s-%s' "$PROGRAM" "$VERSION" "$1"; }
