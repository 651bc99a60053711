#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each map gives the program the weights that a plain data file gives it.
set -euo pipefail
cd "$TEST_TMPDIR"
here=$TEST_SRCDIR/$TEST_WORKSPACE
maps=$here/examples/data_maps
"$here/extension/cli/petrel" export "$here/examples/quickstart/digits.pt2" -o d.pte \
  --external-weights d.ptd
wanted=$("$here/examples/smallest_app/smallest_app" d.pte d.ptd)
[[ $wanted == "10 numbers, the first is "* ]]

same() {
  [[ $2 == "$wanted" ]] || { echo "$1 printed '$2', not '$wanted'"; exit 1; }
}
same unordered_map "$("$maps/unordered_map" d.pte d.ptd)"
same pipe_map "$(cat d.ptd | "$maps/pipe_map" d.pte)"
same linked_map "$("$maps/linked_map" d.pte)"

key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
iv=fffffffffffffffffffffffffffffff0
openssl enc -aes-256-ctr -K $key -iv $iv -in d.ptd -out d.enc
! cmp -s d.ptd d.enc
same decrypting_map "$("$maps/decrypting_map" d.pte d.enc $key $iv)"

# What is wrong is refused.
! "$maps/decrypting_map" d.pte d.enc "${key//0/1}" $iv
! "$maps/decrypting_map" d.pte d.enc "$key" 00
! head -c 1000 d.ptd | "$maps/pipe_map" d.pte
! "$maps/pipe_map" d.pte < /dev/null
