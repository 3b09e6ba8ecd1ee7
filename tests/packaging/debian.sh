#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian.sh FOLDER - builds the Debian packages, looks at them with lintian, installs them on a bare Debian of this one's release, runs
# programs there under Open MPI and MPICH, builds one against libhuddle-dev, and removes the packages.
#
# Exit status 77, with a line: this is no Debian, not root, or what it takes is not installed (.ci/prepare.sh, HUD_PACKAGERS).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
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
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' | sed -n 's/ Debian Debian$//p' | head -n 1)
[ -n "$mirror" ] || fail "apt knows no Debian mirror" 77
rm -rf "$bare"
mmdebstrap --quiet --mode=root --variant=minbase "$release" "$bare" "$mirror" || fail "no bare Debian can be had from the mirror" 77
cp /etc/resolv.conf "$bare/etc/"
cp "$here/debian-inside.sh" "$here/../mpi/sums.c" "$here/../../examples/team.c" "$out"/packages/*.deb "$bare/srv/"
for folder in proc dev dev/shm; do
    mkdir -p "$bare/$folder"
done
# (a namespace of its own: nothing stays mounted, and no process stays)
unshare --mount --pid --ipc --fork sh -eu -c '
    mount --make-rprivate /
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    mount -t tmpfs tmpfs "$1/dev/shm"
    exec chroot "$1" sh /srv/debian-inside.sh' - "$bare"
