#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# install.sh [--full] - installs what ./test needs: packages of Debian, build/venv, headers of Open
# MPI 5. It is quick when all is there.
set -eu
cd "$(dirname "$0")/.."
. .ci/prepare.sh

need_packages $HUD_PACKAGES $HUD_TEST_PACKAGES
[ "${1-}" != --full ] || need_packages $HUD_PACKAGERS
need_venv build/venv "$HUD_WHEELS $HUD_TEST_WHEELS"
need_openmpi_5
[ "${1-}" != --full ] || tests/numa/guest.sh --setup || say "there will be no guest with NUMA nodes"
