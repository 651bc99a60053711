# SPDX-License-Identifier: Apache-2.0
"""The program that test/sdk/run has is what the compiler writes for backends/null today."""

import pathlib
import unittest


class NullBackendTest(unittest.TestCase):

    def test_program_is_what_the_compiler_writes(self):
        here = pathlib.Path("test/sdk")
        self.assertEqual((here / "backend/null_backend.pte").read_bytes(),
                         (here / "null_backend.pte").read_bytes(),
                         "copy bazel-bin/test/sdk/null_backend.pte to test/sdk/backend")


if __name__ == "__main__":
    unittest.main()
