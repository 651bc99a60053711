# SPDX-License-Identifier: Apache-2.0
"""The core of the runtime stays as small as it is.

Core: .text and .rodata of core_probe (load, verify, execute, file loader, no
kernels; -Os, unused sections dropped) less those of an empty main; with its
messages, without them, without them when the whole is optimised by -flto, and
as --config=size builds it (docs/run.md).
Whoever makes it smaller lowers the ceiling with it.
"""
import sys
import unittest

from code_bytes import AARCH64, X86_64, code_bytes, machine

# Bytes with gcc 12; SLACK is for compilers that differ a little. Those of AARCH64 are of an
# earlier core, which was larger.
CORE_BYTES = {
    X86_64: (75_985, 54_913, 46_579, 40_769),
    AARCH64: (82_194, 64_419, 64_419, 64_419),
}
SLACK = 1.03


class CoreSize(unittest.TestCase):

    def check(self, binary, column):
        expected = CORE_BYTES[machine(binary)][column]
        core = code_bytes(binary) - code_bytes("test/size/empty")
        print("%s: %d bytes of code and constants" % (binary, core))
        self.assertGreater(core, 20_000, "the probe has lost its core")
        self.assertLessEqual(core, expected * SLACK)

    def test_with_messages(self):
        self.check("test/size/core_probe", 0)

    def test_without_messages(self):
        self.check("test/size/core_probe_silent", 1)

    def test_without_messages_as_a_whole(self):
        self.check("test/size/core_probe_whole", 2)

    def test_smallest(self):
        self.check("test/size/core_probe_smallest", 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
