#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
extension/cli/petrel export examples/quickstart/digits.pt2 -o "$TEST_TMPDIR/d.pte" \
  --external-weights "$TEST_TMPDIR/d.ptd"
examples/c_app/c_app "$TEST_TMPDIR/d.pte" "$TEST_TMPDIR/d.ptd" | grep "^10 numbers"
# Without its weights the program must refuse to run, and say why.
if examples/c_app/c_app "$TEST_TMPDIR/d.pte" 2>"$TEST_TMPDIR/log"; then exit 1; fi
grep "^cannot run: ." "$TEST_TMPDIR/log"
