#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build.sh FOLDER [RPMBUILD'S WORDS...] - RPM packages of this tree, into FOLDER.  huddle.spec names
# the words for Open MPI.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
[ $# -ge 1 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
name=huddle-$(sed -n 's/^Version: *//p' "$here/huddle.spec")

rm -rf "$out/rpmbuild" "$out"/*.rpm
mkdir -p "$out/rpmbuild/SOURCES"
tar -C "$top" --exclude=./build --exclude=./.git --exclude=./shared --exclude=__pycache__ \
    --transform "s,^\.,$name," \
    -czf "$out/rpmbuild/SOURCES/$name.tar.gz" .
rpmbuild -bb --define "_topdir $out/rpmbuild" "$@" "$here/huddle.spec" >"$out/log" 2>&1 \
    || { tail -n 40 "$out/log" >&2; exit 1; }
find "$out/rpmbuild/RPMS" -name '*.rpm' -exec mv {} "$out" ';'
rm -r "$out/rpmbuild"
ls "$out"/*.rpm
