# SPDX-License-Identifier: Apache-2.0
"""Runs the Python of docs/python.md, block after block in one namespace."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest


class PythonTest(unittest.TestCase):

    def test_every_block_works(self):
        blocks = re.findall(r"^```python\n(.*?)^```", pathlib.Path("docs/python.md").read_text(),
                            re.M | re.S)
        self.assertGreater(len(blocks), 3)
        folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        for file in ("digits.pt2", "digit.npy"):
            shutil.copy(pathlib.Path("examples/quickstart") / file, folder)
        os.chdir(folder)
        names = {}
        for block in blocks:
            exec(compile(block, "docs/python.md", "exec"), names)
        self.assertEqual(names["scores"].shape, (1, 10))


if __name__ == "__main__":
    unittest.main()
