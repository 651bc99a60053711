#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What README promises of the quickstart.
set -euo pipefail
out=$TEST_TMPDIR/out
examples/quickstart/quickstart "$out" | tee "$TEST_TMPDIR/log"
grep -q "in 1 partition, 0 left to kernels" "$TEST_TMPDIR/log"
accuracy=$(sed -n 's/^accuracy *\([0-9]*\).*/\1/p' "$TEST_TMPDIR/log")
[ "$accuracy" -ge 97 ] || { echo "accuracy is $accuracy %, must be at least 97"; exit 1; }
for file in digits.pte digits.ptd plan.svg plan_kernels.svg; do
  [ -s "$out/$file" ] || { echo "$file is missing or empty"; exit 1; }
done
# The weights are in the .ptd, so the program is small.
[ "$(stat -c %s "$out/digits.pte")" -lt "$(stat -c %s "$out/digits.ptd")" ]
grep -q "<svg" "$out/plan.svg"
