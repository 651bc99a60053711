#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
examples/export_script/export_script "$PWD/examples/quickstart/digits.pt2" "$TEST_TMPDIR/out" |
  tee "$TEST_TMPDIR/log"
grep -q "in 1 partition" "$TEST_TMPDIR/log"
grep -q "^output_0: float32 \[1,10\]" "$TEST_TMPDIR/log"
[ -s "$TEST_TMPDIR/out/digits.pte" ] && [ -s "$TEST_TMPDIR/out/digits.ptd" ]
# A model that is not there: an error, and no files.
if examples/export_script/export_script "$TEST_TMPDIR/none.pt2" "$TEST_TMPDIR/bad"; then exit 1; fi
[ -z "$(ls "$TEST_TMPDIR/bad")" ]
