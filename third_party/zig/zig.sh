#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# zig.sh FOLDER
#
# Unpacks the compiler of the package ziglang below FOLDER, pinned by its digest; does nothing
# when it is there. Prints the folder that it made. PETREL_DISTDIR may name a folder that has
# the wheel.
set -euo pipefail
folder=$1
version=0.17.1
case $(uname -m) in
  x86_64) digest=ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54 ;;
  *) echo "zig.sh: there is no pinned ziglang for $(uname -m)" >&2; exit 1 ;;
esac
here=$folder/zig-$version-${digest:0:16}
if [ -e "$here" ]; then
  echo "$here"
  exit 0
fi
mkdir -p "$folder"
work=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "ziglang==$version --hash=sha256:$digest" >"$work/requirements.txt"
{
  /usr/bin/python3 -m venv "$work/venv"
  "$work/venv/bin/python" -m pip install --disable-pip-version-check --no-input -q --no-deps \
    --only-binary=:all: --require-hashes ${PETREL_DISTDIR:+--find-links "$PETREL_DISTDIR"} \
    --target "$work/site" -r "$work/requirements.txt"
} >"$work/log" 2>&1 || {
  tail -5 "$work/log" >&2
  echo "zig.sh: pip could not install ziglang==$version" >&2
  exit 1
}
mv "$work/site/ziglang" "$here" 2>/dev/null || [ -e "$here" ] # Another was quicker.
echo "$here"
