# SPDX-License-Identifier: Apache-2.0
"""Runs the Python of docs/python.md, block after block in one namespace, and then that of
docs/porting.md, whose program has its weights inside."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest


class PythonTest(unittest.TestCase):

    def test_every_block_works(self):
        pages = {page: re.findall(r"^```python\n(.*?)^```", pathlib.Path(page).read_text(),
                                  re.M | re.S)
                 for page in ("docs/python.md", "docs/porting.md")}
        self.assertGreater(len(pages["docs/python.md"]), 3)
        self.assertGreater(len(pages["docs/porting.md"]), 0)
        folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        for file in ("digits.pt2", "digit.npy"):
            shutil.copy(pathlib.Path("examples/quickstart") / file, folder)
        os.chdir(folder)
        names = {}
        for page, blocks in pages.items():
            if page == "docs/porting.md":
                names["petrel"].export("digits.pt2").save("digits.pte")
            for block in blocks:
                exec(compile(block, page, "exec"), names)
        self.assertEqual(names["scores"].shape, (1, 10))
        self.assertEqual(names["outputs"][0].shape, (1, 10))


if __name__ == "__main__":
    unittest.main()
