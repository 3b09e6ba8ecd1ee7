# SPDX-License-Identifier: BSD-3-Clause
# elsewhere-inside.sh - what elsewhere.sh does on the bare system, with the wheel in /srv.
set -eux
cd /srv
export LC_ALL=C.UTF-8 HOME=/srv PATH=/srv/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 \
    PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl=^tcp # one node
python3 -m venv --system-site-packages venv # whose click and rich are Debian's
venv/bin/pip install -q --disable-pip-version-check --no-index ./huddle_mpi-*.whl
sed -n 's/^PRETTY_NAME=//p' /etc/os-release
huddle info --brief

. ./sums-inside.sh
huddle doctor
