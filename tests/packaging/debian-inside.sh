# SPDX-License-Identifier: BSD-3-Clause
# debian-inside.sh - what debian.sh does on the bare Debian, with the packages in /srv.
set -eux
cd /srv
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/srv
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
apt-get update -qq
. ./laboratory.sh
# One at a time: each asks for what it needs.
for package in libhuddle0 libhuddle-dev huddle huddle-mpich huddle-openmpi huddle-lab; do
    apt-get install -y -qq --no-install-recommends ./${package}_*.deb >log 2>&1 \
        || { cat log; exit 1; }
    [ $package != huddle ] || huddle doctor | grep -q 'front ends: none'
    [ $package = huddle-lab ] || [ -z "$(dpkg-query -L $package | of_the_laboratory)" ]
    [ ! -e /usr/share/doc/huddle ] || python3 installed_links.py /usr/share/doc/huddle
done
huddle lab simulate barrier --machine epyc-7742 --ranks 4
for tool in gcc mpirun; do # the packages alone bring neither
    if command -v $tool; then exit 1; fi
done
huddle info --brief
huddle settings HUDDLE_MEMORY

apt-get install -y -qq --no-install-recommends gcc libc6-dev pkg-config openmpi-bin libopenmpi-dev \
    mpich libmpich-dev >log 2>&1 || { cat log; exit 1; }
. ./sums-inside.sh
gcc -D_GNU_SOURCE -O1 team.c -o team $(pkg-config --cflags --libs huddle) -pthread
./team 2 100

apt-get purge -y -qq huddle huddle-openmpi huddle-mpich huddle-lab libhuddle0 libhuddle-dev \
    >log 2>&1 || { cat log; exit 1; }
left=$(find /usr /etc /opt /var/lib/dpkg/info -name '*huddle*')
[ -z "$left" ]
