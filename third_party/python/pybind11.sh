#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# pybind11.sh FOLDER
#
# Unpacks the headers of pybind11 below FOLDER, pinned by their digest; does nothing when they are
# there. Prints the folder that has them. Debian's serve Debian's Python: those of Debian 12 know
# none after 3.11. PETREL_DISTDIR may name a folder that has the wheel.
set -euo pipefail
version=3.1.0
digest=b8488090f8acffbcb6b5d6a85571a6827a0a2981ffb75e5a0b27b87c4a6b7dd0
here=pybind11-$version-${digest:0:16}
"$(dirname "$0")/../pypi_package.sh" "$1" pybind11 "$version" "$digest" pybind11 "$here"
echo "$1/$here/include"
