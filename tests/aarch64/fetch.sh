#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fetch.sh DIR - a compiler for aarch64, an emulator of its programs (DIR/tools) and the libraries
# that huddle and two MPIs need there (DIR/sysroot).
#
# From Debian 12's packages, unpacked under DIR: nothing is installed.  Succeeds at once if DIR is
# complete already.  Otherwise one line says why not, and the exit status is 1.
set -eu

release=bookworm
tools="gcc-12-aarch64-linux-gnu cpp-12-aarch64-linux-gnu g++-12-aarch64-linux-gnu
    binutils-aarch64-linux-gnu libgcc-12-dev-arm64-cross libstdc++-12-dev-arm64-cross
    qemu-user-static"
libraries="libc6 libc6-dev linux-libc-dev libcrypt1 libcrypt-dev libgcc-s1 libatomic1 libstdc++6
    libudev1 zlib1g libgfortran5 libhwloc-dev libhwloc15 libjansson-dev libjansson4
    libcmocka-dev libcmocka0 libboost1.74-dev libboost-context1.74-dev libboost-context1.74.0
    libopenmpi-dev libopenmpi3 libpmix-dev libpmix2 libevent-dev libevent-core-2.1-7
    libevent-pthreads-2.1-7 libmunge2
    libmpich-dev libmpich12 libucx0 libnuma1 libnl-3-200 libnl-route-3-200 libibverbs1 librdmacm1"

fail() {
    echo "aarch64: $1" >&2
    exit 1
}

[ $# -eq 1 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1" 2>/dev/null || fail "cannot write $1"
dir=$(cd "$1" && pwd)
[ ! -e "$dir/complete" ] || exit 0
[ "$(uname -m)" = x86_64 ] || fail "the compiler's packages are for x86-64"

. "$(dirname "$0")/../../cmake/private-apt.sh"
apt=$dir/apt
private_apt "$apt" $release amd64,arm64
unpack_packages "$apt" "$dir/tools" $tools
unpack_packages "$apt" "$dir/sysroot" openmpi-common \
    $(for name in $libraries; do echo "$name:arm64"; done)
find "$dir/tools/usr/bin" -name 'qemu-*' ! -name qemu-aarch64-static -delete
find "$dir/sysroot" -name 'libmpich*.a' -delete
# The compiler's own link leads to a package that is not unpacked, and libstdc++.a needs a newer C
# library.
ln -sf "$dir/sysroot/usr/lib/aarch64-linux-gnu/libstdc++.so.6" \
    "$dir/tools/usr/lib/gcc-cross/aarch64-linux-gnu/12/libstdc++.so"
# Absolute links lead out of the folder: libm.so would be missing, and the linker would take libm.a.
find "$dir/sysroot" -type l -lname '/*' | while read -r link; do
    ln -sf "$dir/sysroot$(readlink "$link")" "$link"
done
rm -rf "$apt"
touch "$dir/complete"
