# SPDX-License-Identifier: Apache-2.0
"""No kernel for vectors goes through the elements one by one, as compilers may choose for a blend
(blend.h): each element would have a branch by its sign."""
import collections
import re
import subprocess
import sys
import unittest

# A kernel branches by a sign in loops and for a rest; a blend of eight floats that was taken apart
# has eight branches alone.
MOST = 8


def sign_branches(listing):
    """{kernel: how many} of those that use vectors of 32 bytes."""
    branches, has_vectors, name = collections.Counter(), set(), ""
    for line in listing:
        start = re.match(r"[0-9a-f]+ <(.*)>:", line)
        if start:
            name = start.group(1)
        elif "_ukernel_" in name:
            if re.search(r"\sj(n?s)\s", line):
                branches[name] += 1
            if "%ymm" in line:
                has_vectors.add(name)
    return {name: branches[name] for name in has_vectors}


class VectorKernelsTest(unittest.TestCase):
    def test_none_branches_by_the_signs_of_elements(self):
        listing = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", PROGRAM],
                                   stdout=subprocess.PIPE, universal_newlines=True)
        found = sign_branches(listing.stdout)
        self.assertEqual(listing.wait(), 0)
        self.assertGreater(len(found), 150)
        self.assertIn("xnn_f32_vlrelu_ukernel__avx_u16", found)
        self.assertEqual({name: n for name, n in found.items() if n > MOST}, {})

    def test_a_blend_that_was_taken_apart_is_found(self):
        listing = ["0000 <xnn_x_ukernel__avx>:", "  1:  vmovups (%rdx),%ymm3"]
        listing += ["  2:  jns    8 <xnn_x_ukernel__avx+0x8>"] * 9 + ["0009 <other>:", "  9:  js  1"]
        self.assertEqual(sign_branches(listing), {"xnn_x_ukernel__avx": 9})


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
