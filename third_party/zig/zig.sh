#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# zig.sh FOLDER
#
# Unpacks the compiler of the package ziglang below FOLDER, pinned by its digest; does nothing
# when it is there. Prints the folder that it made. PETREL_DISTDIR may name a folder that has
# the wheel.
set -euo pipefail
version=0.17.1
case $(uname -m) in
  x86_64) digest=ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54 ;;
  *) echo "zig.sh: there is no pinned ziglang for $(uname -m)" >&2; exit 1 ;;
esac
here=zig-$version-${digest:0:16}
"$(dirname "$0")/../pypi_package.sh" "$1" ziglang "$version" "$digest" ziglang "$here"
echo "$1/$here"
