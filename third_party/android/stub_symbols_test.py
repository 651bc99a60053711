# SPDX-License-Identifier: Apache-2.0
"""Which names of Android's lists are there, for which processor and from which level on."""

import unittest

import stub_symbols

TEXT = """# A comment.
LIBC {
  global:
    abort;
    __fcntl64; # arm x86
    environ; # var
    statx; # introduced=30
    strerror_l; # introduced=23
    tgkill; # introduced-arm=21 introduced-arm64=16
    internal; # apex
    old; # versioned=29
  local:
    *;
};

LIBC_N { # introduced-arm64=24 introduced-x86=24
  global:
    getifaddrs; # introduced=24
} LIBC;

LIBC_R { # introduced=30
  global:
    call_once;
} LIBC_N;

LIBC_PRIVATE {
  global:
    hidden;
} LIBC_R;
"""


class StubSymbolsTest(unittest.TestCase):

    def names(self, processor, level):
        return {block.name: (block.functions, block.variables)
                for block in stub_symbols.versions(TEXT, processor, level)}

    def test_takes_what_a_level_has(self):
        self.assertEqual(self.names("arm64", 24), {
            "LIBC": (["abort", "strerror_l", "tgkill"], ["environ"]),
            "LIBC_N": (["getifaddrs"], []),
            None: (["old"], []),
        })
        self.assertEqual(self.names("arm64", 30)["LIBC"][0],
                         ["abort", "statx", "strerror_l", "tgkill", "old"])
        self.assertIn("LIBC_R", self.names("arm64", 30))

    def test_takes_what_a_processor_has(self):
        self.assertIn("__fcntl64", self.names("arm", 24)["LIBC"][0])
        self.assertNotIn("tgkill", self.names("arm", 20)["LIBC"][0])

    def test_versions_follow_each_other(self):
        blocks = stub_symbols.versions(TEXT, "arm64", 30)
        script = stub_symbols.version_script(blocks)
        self.assertIn("LIBC {\n  global:\n    abort;\n", script)
        self.assertIn("    getifaddrs;\n} LIBC;\n", script)
        self.assertIn("    call_once;\n} LIBC_N;\n", script)
        self.assertIn(".type environ, %object", stub_symbols.assembly(blocks))

    def test_says_which_line_is_no_name(self):
        with self.assertRaisesRegex(ValueError, "'    two words;' is no name"):
            stub_symbols.versions("LIBC {\n    two words;\n};\n", "arm64", 24)


if __name__ == "__main__":
    unittest.main()
