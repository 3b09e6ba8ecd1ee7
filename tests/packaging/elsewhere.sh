#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# elsewhere.sh WHEELS FOLDER RELEASE [MIRROR KEYRING] - installs the wheel in the folder WHEELS on a
# bare system of another release or distribution, "trixie" say, and runs programs there under that
# system's Open MPI and MPICH.
#
# Without MIRROR it is a Debian, from apt's mirror.  Exit status 77, with a line: not root, no such
# system can be had, or what it takes is not installed (.ci/prepare.sh, HUD_PACKAGERS).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bare.sh"
fail() {
    echo "elsewhere: $1" >&2
    exit "${2-1}"
}
[ $# = 3 ] || [ $# = 5 ] || fail "elsewhere.sh WHEELS FOLDER RELEASE [MIRROR KEYRING]" 2
wheels=$1 release=$3
[ "$(id -u)" = 0 ] || fail "only root may make a system to install on" 77
for tool in mmdebstrap unshare; do
    command -v $tool >/dev/null || fail "$tool is not installed" 77
done
wheel=$(ls "$wheels"/huddle_mpi-*-manylinux_*_"$(uname -m)".whl 2>/dev/null | tail -n 1)
[ -n "$wheel" ] || fail "no wheel for $(uname -m) in $wheels"
mirror=${4-$(debian_mirror)}
[ -n "$mirror" ] || fail "apt knows no Debian mirror" 77
mkdir -p "$2"
bare=$(cd "$2" && pwd)/$release
trap 'rm -rf "$bare"' EXIT

make_bare "$bare" "$release" "$mirror" ${5+--keyring="$5"} --components="main${4+,universe}" \
    --include=ca-certificates,gcc,libc6-dev,python3-venv,python3-click,python3-rich \
    --include=openmpi-bin,libopenmpi-dev,mpich,libmpich-dev \
    || fail "no bare $release from $mirror" $?
cp "$here/elsewhere-inside.sh" "$here/sums-inside.sh" "$here/../mpi/sums.c" "$wheel" "$bare/srv/"
run_bare "$bare" elsewhere-inside.sh
