# SPDX-License-Identifier: Apache-2.0
"""What the processor can do is asked in runtime/platform alone, in all that is linked into the
libraries: the compilers' built-in needs a library that knows, and zig's says no to everything."""
import os
import unittest

import tree

WORD = "__builtin_cpu_" + "supports"

# Where it is named, and why it may be.
REASONS = {
    "runtime/platform/isa_level.cc": "says why it is not asked",
    "runtime/platform/isa_level_test.cc": "compares with gcc's",
}


def violations(texts, reasons):
    """One line for each source that asks it, and for each reason too many."""
    found = {path for path, text in texts.items() if WORD in text}
    return (["%s asks %s, must ask runtime/platform/isa_level.h" % (path, WORD)
             for path in sorted(found - set(reasons))] +
            ["%s does not name it any more" % path for path in sorted(set(reasons) - found)])


class BuiltinsTest(unittest.TestCase):
    def test_nothing_asks_the_built_in(self):
        root, texts = tree.workspace(), {}
        for path in tree.sources(root, (".c", ".cc", ".h")):
            if not path.startswith(("backends/", "extension/", "runtime/", "schema/")):
                continue
            with open(os.path.join(root, path), encoding="utf-8") as file:
                texts[path] = file.read()
        self.assertGreater(len(texts), 500)
        self.assertEqual(violations(texts, REASONS), [])

    def test_a_call_is_found(self):
        self.assertEqual(len(violations({"a.cc": WORD + "(\"avx\")"}, {"b.cc": "a reason"})), 2)


if __name__ == "__main__":
    unittest.main()
