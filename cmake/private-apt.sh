# SPDX-License-Identifier: BSD-3-Clause
# private-apt.sh - an apt of one's own, to be sourced: packages of a Debian release are unpacked
# into a folder, and nothing is installed.
#
#   private_apt DIR RELEASE [ARCHITECTURES]   lists and configuration under DIR (architectures with
#                                             commas; default: this machine's)
#   unpack_packages DIR INTO PACKAGE...       downloads packages with DIR's apt and unpacks them
#                                             into INTO
#
# Uses the mirror and the keys that this system's apt uses.  What cannot be had ends the script, by
# its function fail.

private_apt() {
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail "this is no Debian"
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 2>/dev/null \
        | sed -n 's/ Debian Debian$//p' | head -n 1)
    [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null \
        | grep '/debian/*$' | head -n 1)
    [ -n "$mirror" ] || fail "apt knows no Debian mirror"
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -r $keys ] || fail "no $keys"

    mkdir -p "$1/lists/partial" "$1/archives/partial" 2>/dev/null || fail "cannot write $1"
    : >"$1/status"
    echo "deb [${3:+arch=$3 }signed-by=$keys] $mirror $2 main" >"$1/sources.list"
    list=""
    [ -z "${3-}" ] || list="APT::Architectures { \"$(echo "$3" | sed 's/,/"; "/g')\"; };"
    cat >"$1/apt.conf" <<EOF
$list
Dir::State "$1";
Dir::State::lists "$1/lists";
Dir::State::status "$1/status";
Dir::Cache "$1";
Dir::Cache::archives "$1/archives";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
APT::Sandbox::User "";
EOF
    APT_CONFIG="$1/apt.conf" apt-get -qq update >"$1/log" 2>&1 \
        || fail "apt-get update: $(tail -n 1 "$1/log")"
}

unpack_packages() {
    apt=$1 into=$2
    shift 2
    rm -rf "$apt/packages"
    mkdir -p "$apt/packages" "$into" || fail "cannot write $into"
    (cd "$apt/packages" && APT_CONFIG="$apt/apt.conf" apt-get -qq download "$@") >>"$apt/log" 2>&1 \
        || fail "apt-get download: $(tail -n 1 "$apt/log")"
    for package in "$apt"/packages/*.deb; do
        dpkg -x "$package" "$into" || fail "dpkg -x $package"
    done
}
