#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian.sh FOLDER - builds the Debian packages, looks at them with lintian, installs them on a bare
# Debian of this one's release, runs programs there under Open MPI and MPICH, builds one against
# libhuddle-dev, and removes the packages.
#
# Exit status 77, with a line: this is no Debian, not root, or what it takes is not installed
# (.ci/prepare.sh, HUD_PACKAGERS).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bare.sh"
fail() {
    echo "debian: $1" >&2
    exit "${2-1}"
}
[ $# = 1 ] || fail "debian.sh FOLDER" 2
[ "$(id -u)" = 0 ] || fail "only root may make a Debian to install on" 77
for tool in dpkg-buildpackage dh lintian mmdebstrap unshare; do
    command -v $tool >/dev/null || fail "$tool is not installed" 77
done
mkdir -p "$1"
out=$(cd "$1" && pwd)
bare=$out/bare
trap 'rm -rf "$bare"' EXIT

sh "$here/../../packaging/debian/build.sh" "$out/packages"

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(debian_mirror)
[ -n "$mirror" ] || fail "apt knows no Debian mirror" 77
make_bare "$bare" "$release" "$mirror" || fail "no bare Debian $release from $mirror" $?
cp "$here/debian-inside.sh" "$here/sums-inside.sh" "$here/laboratory.sh" \
    "$here/installed_links.py" "$here/../mpi/sums.c" "$here/../../examples/team.c" \
    "$out"/packages/*.deb "$bare/srv/"
run_bare "$bare" debian-inside.sh
