#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rpm.sh FOLDER - builds the RPM packages, without and with the one for Open MPI, and runs huddle
# from their files.
#
# It runs on Debian too, with the macros and folders of an RPM system given here; there, the names
# of the packages that are required are not looked at.  Exit status 77, with a line: what it takes
# is not installed (.ci/prepare.sh, HUD_PACKAGERS).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/laboratory.sh"
fail() {
    echo "rpm: $1" >&2
    exit "${2-1}"
}
[ $# = 1 ] || fail "rpm.sh FOLDER" 2
for tool in rpmbuild rpm2cpio cpio mpicc.mpich mpicc.openmpi; do
    command -v $tool >/dev/null || fail "$tool is not installed" 77
done
mkdir -p "$1"
out=$(cd "$1" && pwd)
root=$out/root
trap 'rm -rf "$root" "$out/bin"' EXIT

# Each MPI's compiler wrapper is mpicc in a folder of its own there.
for mpi in mpich openmpi; do
    mkdir -p "$out/bin/$mpi"
    ln -sf "$(command -v mpicc.$mpi)" "$out/bin/$mpi/mpicc"
done
set -- --nodeps --define "debug_package %{nil}" --define "_libdir /usr/lib" \
    --define "__python3 /usr/bin/python3" \
    --define "mpich_bin $out/bin/mpich" --define "cmake cmake -S . -B made \
-DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib" \
    --define "cmake_build cmake --build made" \
    --define "cmake_install DESTDIR=%{buildroot} cmake --install made"
sh "$here/../../packaging/rpm/build.sh" "$out/mpich" "$@"
[ "$(ls "$out/mpich" | grep -c '\.rpm$')" = 5 ] || fail "not five packages without Open MPI"

include=$(mpicc.openmpi --showme:incdirs | cut -d ' ' -f 1)
series=$(mpicc.openmpi --showme:version | sed -n 's/.*Open MPI \([0-9]*\)\.\([0-9]*\).*/\1_\2/p')
sh "$here/../../packaging/rpm/build.sh" "$out/openmpi" "$@" --with openmpi \
    --define "openmpi_bin $out/bin/openmpi" \
    --define "openmpi_include $include" --define "openmpi_series $series"
[ "$(ls "$out/openmpi" | grep -c '\.rpm$')" = 6 ] || fail "not six packages with Open MPI"

rm -rf "$root"
mkdir "$root"
for package in "$out"/openmpi/*.rpm; do
    case $package in
    */huddle-lab-*) ;;
    *) [ -z "$(rpm -qlp "$package" | of_the_laboratory)" ] \
        || fail "$package has files of the laboratory" ;;
    esac
    (cd "$root" && rpm2cpio "$package" | cpio --quiet -id)
done
libraries=$root/usr/lib
LD_LIBRARY_PATH=$libraries "$root/usr/bin/huddle" lab simulate barrier --machine epyc-7742 --ranks 4
python3 "$here/installed_links.py" "$root/usr/share/doc/huddle"
said=$(LD_LIBRARY_PATH=$libraries "$root/usr/bin/huddle" info --brief)
echo "$said"
for front in "Open MPI" MPICH; do
    case $said in *"$front"*) ;; *) fail "no front end for $front in: $said" ;; esac
done
