# SPDX-License-Identifier: Apache-2.0
"""The core of the runtime stays as small as it is.

Core: .text and .rodata of core_probe (load, verify, execute, file loader, no
kernels; -Os, unused sections dropped) less those of an empty main. Whoever
makes it smaller lowers the ceiling with it.
"""
import sys
import unittest

from code_bytes import code_bytes

# Bytes with gcc 12 on x86-64; SLACK is for compilers that differ a little.
CORE_BYTES = 60_045
CORE_BYTES_WITHOUT_MESSAGES = 45_328
SLACK = 1.03


class CoreSize(unittest.TestCase):

    def check(self, binary, expected):
        core = code_bytes(binary) - code_bytes("test/size/empty")
        print("%s: %d bytes of code and constants" % (binary, core))
        self.assertGreater(core, 20_000, "the probe has lost its core")
        self.assertLessEqual(core, expected * SLACK)

    def test_with_messages(self):
        self.check("test/size/core_probe", CORE_BYTES)

    def test_without_messages(self):
        self.check("test/size/core_probe_silent", CORE_BYTES_WITHOUT_MESSAGES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
