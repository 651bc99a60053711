#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# pybind11.sh FOLDER
#
# Unpacks the headers of pybind11 below FOLDER, pinned by their digest; does nothing when they are
# there. Prints the folder that has them. Debian's serve Debian's Python: those of Debian 12 know
# none after 3.11. PETREL_DISTDIR may name a folder that has the wheel.
set -euo pipefail
version=2.13.6
digest=237c41e29157b962835d356b370ededd57594a26d5894a795960f0047cb5caf5
here=pybind11-$version-${digest:0:16}
"$(dirname "$0")/../pypi_package.sh" "$1" pybind11 "$version" "$digest" pybind11 "$here"
echo "$1/$here/include"
