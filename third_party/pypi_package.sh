#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# pypi_package.sh FOLDER NAME VERSION SHA256 MODULE HERE
#
# Unpacks the module MODULE of a wheel of PyPI as FOLDER/HERE, if it has this digest. Does nothing
# when that is there. PETREL_DISTDIR may name a folder that has the wheel.
set -euo pipefail
folder=$1 name=$2 version=$3 digest=$4 module=$5 here=$1/$6
[ ! -e "$here" ] || exit 0
mkdir -p "$folder"
work=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "$name==$version --hash=sha256:$digest" >"$work/requirements.txt"
{
  /usr/bin/python3 -m venv "$work/venv"
  "$work/venv/bin/python" -m pip install --disable-pip-version-check --no-input -q --no-deps \
    --only-binary=:all: --require-hashes ${PETREL_DISTDIR:+--find-links "$PETREL_DISTDIR"} \
    --target "$work/site" -r "$work/requirements.txt"
} >"$work/log" 2>&1 || {
  tail -5 "$work/log" >&2
  echo "pypi_package.sh: pip could not install $name==$version" >&2
  exit 1
}
mv "$work/site/$module" "$here" 2>/dev/null || [ -e "$here" ] # Another was quicker.
