#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
examples/python_backend/python_backend "$PWD/extension/python/test/testdata/affine_two_parts.pt2" |
  tee "$TEST_TMPDIR/log"
grep -q "delegated      4 nodes to AffineBackend in 2 partitions" "$TEST_TMPDIR/log"
grep -q "aten.sigmoid.default): it is neither an addition nor a product" "$TEST_TMPDIR/log"
grep -Eq "^largest difference (0.0|[0-9.]+e-0[6-9])$" "$TEST_TMPDIR/log"
# A model that is not there: an error that names it.
if examples/python_backend/python_backend "$TEST_TMPDIR/none.pt2" 2>"$TEST_TMPDIR/log"; then
  exit 1
fi
grep -q "petrel._error.Error: .*none.pt2" "$TEST_TMPDIR/log"
