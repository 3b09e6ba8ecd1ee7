#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build.sh FOLDER - Debian packages of this tree, into FOLDER, by debhelper; lintian finds nothing
# in them.
#
# The packages are for the Debian that this runs on. What they need to be built must be installed
# (control, Build-Depends).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
[ $# = 1 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)

rm -rf "$out/tree" "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
mkdir "$out/tree"
tar -C "$top" --exclude=./build --exclude=./.git --exclude=./shared --exclude=__pycache__ -cf - . \
    | tar -C "$out/tree" -xf -
cp -r "$here" "$out/tree/debian"
rm "$out/tree/debian/build.sh"
(cd "$out/tree" && env PATH=/usr/sbin:/usr/bin:/sbin:/bin dpkg-buildpackage --no-sign -b) \
    >"$out/log" 2>&1 || { tail -n 40 "$out/log" >&2; exit 1; }
rm -r "$out/tree"
as=
[ "$(id -u)" != 0 ] || as=--allow-root
lintian $as --fail-on error,warning --tag-display-limit 0 "$out"/huddle_*.changes
ls "$out"/*.deb
