# SPDX-License-Identifier: Apache-2.0
"""No two headers define types that have one name in one namespace.

To the linker they would be one type: it keeps one constructor and one destructor of
the two, and half of the objects are destroyed as what they are not.
"""
import collections
import os
import re
import unittest

import tree

OPEN = re.compile(r"(?:inline )?namespace ([\w:]*) ?\{$")
CLOSE = re.compile(r"\}  // namespace")
TYPE = re.compile(r"(?:struct|class|enum|enum class) (\w+)(?: final)?(?: ?:[^:].*)?(?: \{.*)?$")


def types(text):
    """The types that a header defines, with their namespaces. The tree is formatted."""
    spaces, found = [], []
    for line in text.splitlines():
        opened, defined = OPEN.match(line), TYPE.match(line)
        if opened:
            spaces.append(opened.group(1))
        elif CLOSE.match(line) and spaces:
            spaces.pop()
        elif defined and "" not in spaces:
            found.append("::".join(spaces + [defined.group(1)]))
    return found


def violations(headers):
    """One line for each name that is given twice; `headers` maps paths to texts."""
    owners = collections.defaultdict(set)
    for path, text in headers.items():
        for name in types(text):
            owners[name].add(path)
    return ["%s is in %s" % (name, " and ".join(sorted(paths)))
            for name, paths in sorted(owners.items()) if name.startswith("petrel::") and
            len(paths) > 1]


class TypeNamesTest(unittest.TestCase):
    def test_each_name_is_given_once(self):
        root, headers = tree.workspace(), {}
        for path in tree.sources(root, (".h",)):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                headers[path] = file.read()
        self.assertGreater(sum(len(types(text)) for text in headers.values()), 500)
        self.assertEqual(violations(headers), [])

    def test_a_name_that_is_given_twice_is_found(self):
        text = "namespace petrel::a {\nstruct Options {\n};\n}  // namespace petrel::a\n"
        other = text.replace("::a", "::b").replace("struct Options", "class Options final : Base")
        self.assertEqual(violations({"a.h": text, "b.h": other}), [])
        self.assertEqual(violations({"a.h": text, "c.h": text}),
                         ["petrel::a::Options is in a.h and c.h"])


if __name__ == "__main__":
    unittest.main()
