#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fetch-openmpi-5.sh DIR - Open MPI 5.0's internal headers, from Debian 13's packages, unpacked under DIR (nothing is installed).
#
# For a Debian whose own Open MPI is another series.  Configured into <build>/ompi-5.0, CMake finds them there by itself.
# Uses the mirror and the keys that this system's apt uses, with lists and configuration of its own.
# Succeeds at once if DIR is complete already.  Otherwise one line says why not, and the exit status is 1: the 5.0 component is not built.
set -eu

release=trixie
packages="libopenmpi-dev libopenmpi40 libpmix-dev"

fail() {
    echo "fetch-openmpi-5: $1; the component for Open MPI 5.0 will not be built" >&2
    exit 1
}

[ $# -eq 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1" 2>/dev/null || fail "cannot write $1"
dir=$(cd "$1" && pwd)
[ ! -e "$dir/complete" ] || exit 0

command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail "this is no Debian"
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 2>/dev/null | sed -n 's/ Debian Debian$//p' | head -n 1)
[ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep '/debian/*$' | head -n 1)
[ -n "$mirror" ] || fail "apt knows no Debian mirror"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r $keys ] || fail "no $keys"

apt=$dir/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"
echo "deb [signed-by=$keys] $mirror $release main" >"$apt/sources.list"
cat >"$apt/apt.conf" <<EOF
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
APT::Sandbox::User "";
EOF

export APT_CONFIG="$apt/apt.conf"
apt-get -qq update >"$apt/log" 2>&1 || fail "apt-get update: $(tail -n 1 "$apt/log")"
(cd "$apt" && apt-get -qq download $packages) >>"$apt/log" 2>&1 || fail "apt-get download: $(tail -n 1 "$apt/log")"
for package in "$apt"/*.deb; do
    dpkg -x "$package" "$dir" || fail "dpkg -x $package"
done
rm -rf "$apt"
touch "$dir/complete"
