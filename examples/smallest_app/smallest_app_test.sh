#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
extension/cli/petrel export examples/quickstart/digits.pt2 -o "$TEST_TMPDIR/d.pte" \
  --external-weights "$TEST_TMPDIR/d.ptd"
examples/smallest_app/smallest_app "$TEST_TMPDIR/d.pte" "$TEST_TMPDIR/d.ptd" |
  grep -q "^10 numbers"
# Without its weights the program must refuse to load.
! examples/smallest_app/smallest_app "$TEST_TMPDIR/d.pte"
