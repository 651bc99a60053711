#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
examples/python_export/python_export "$PWD/examples/quickstart/digits.pt2" "$TEST_TMPDIR/out" |
  tee "$TEST_TMPDIR/log"
grep -q "in 1 partition" "$TEST_TMPDIR/log"
grep -q "^output 0: float32 \[1, 10\]" "$TEST_TMPDIR/log"
[ -s "$TEST_TMPDIR/out/digits.pte" ] && [ -s "$TEST_TMPDIR/out/digits.ptd" ]
# A model that is not there: an error, and no files.
if examples/python_export/python_export "$TEST_TMPDIR/none.pt2" "$TEST_TMPDIR/bad" \
  2>"$TEST_TMPDIR/log"; then exit 1; fi
grep -q "^python_export: .*none.pt2" "$TEST_TMPDIR/log"
[ ! -e "$TEST_TMPDIR/bad" ]
