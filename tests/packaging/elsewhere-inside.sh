# SPDX-License-Identifier: BSD-3-Clause
# elsewhere-inside.sh - what elsewhere.sh does on the bare system, with the wheel in /srv.
set -eux
cd /srv
export LC_ALL=C.UTF-8 HOME=/srv PATH=/srv/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl=^tcp # one node
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-index ./huddle_mpi-*.whl
sed -n 's/^PRETTY_NAME=//p' /etc/os-release
huddle info --brief

for mpi in openmpi mpich; do
    mpicc.$mpi -O1 sums.c -o sums-$mpi
    case $mpi in
    openmpi) launch="mpirun.openmpi --oversubscribe -n 4" ;;
    mpich) launch="mpiexec.mpich -n 4" ;;
    esac
    $launch --version | head -n 1
    huddle run --stats=stats.json -- $launch ./sums-$mpi
    [ "$(grep -c '"handled": 200,' stats.json)" = 2 ] # both collectives, on each rank, 50 times
    cat /dev/null >stats.json
done
huddle doctor
