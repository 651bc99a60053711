# SPDX-License-Identifier: Apache-2.0
"""Files of the user appear complete or not at all: the compiler and the command write them
with exir/output alone, not with streams."""
import os
import unittest

import tree

# What writes by itself, and why it may.
REASONS = {
    "exir/compile_c/compile_c.cc": "a folder of its own, which goes when it is done",
    "exir/import/test_archive.cc": "for tests",
    "exir/plan/benchmarks/sweep.cc": "a benchmark",
    "extension/c_api/test_helpers.h": "for tests",
    "extension/compiled/testing_library.h": "for tests",
    "extension/module/given_data.cc": "for tests",
}


def violations(texts, reasons):
    """One line for each source that writes with a stream, and for each reason too many."""
    found = {path for path, text in texts.items() if "ofstream" in text or "fopen(" in text}
    return (["%s writes a file without exir/output" % path for path in sorted(found - set(reasons))] +
            ["%s has no stream any more" % path for path in sorted(set(reasons) - found)])


class OutputFilesTest(unittest.TestCase):
    def test_nothing_else_writes_files_of_the_user(self):
        root, texts = tree.workspace(), {}
        for path in tree.sources(root, (".cc", ".h")):
            if path.startswith(("exir/", "extension/")) and not path.endswith("_test.cc"):
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    texts[path] = file.read()
        self.assertGreater(len(texts), 500)
        self.assertEqual(violations(texts, REASONS), [])

    def test_a_stream_is_found(self):
        texts = {"a.cc": "std::ofstream out(path);", "b.cc": "std::ifstream in(path);"}
        self.assertEqual(violations(texts, {"c.cc": "a reason"}),
                         ["a.cc writes a file without exir/output", "c.cc has no stream any more"])


if __name__ == "__main__":
    unittest.main()
