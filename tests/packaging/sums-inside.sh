# SPDX-License-Identifier: BSD-3-Clause
# sums-inside.sh - for debian-inside.sh and elsewhere-inside.sh: sums.c under the bare system's Open
# MPI and MPICH, every call handled.  Learning is off, since the MPI's own broadcast would be tried.
for mpi in openmpi mpich; do
    mpicc.$mpi -O1 sums.c -o sums-$mpi
    case $mpi in
    openmpi) launch="mpirun.openmpi --oversubscribe -n 4" ;;
    mpich) launch="mpiexec.mpich -n 4" ;;
    esac
    huddle run --stats=stats.json --set HUDDLE_WISDOM=off -- $launch ./sums-$mpi
    [ "$(grep -c '"handled": 200,' stats.json)" = 2 ] # both collectives, on each rank, 50 times
    cat /dev/null >stats.json
done
