# SPDX-License-Identifier: Apache-2.0
"""The source tree keeps to the rules of rooms, includes and public targets."""
import os
import tempfile
import unittest

import includes
import public
import rooms
import tree


def rules_of(root):
    with tempfile.TemporaryDirectory() as output_base:
        return tree.rules(root, output_base)


def write(root, files):
    for path, text in files.items():
        os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as out:
            out.write(text)


class TreeTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.root = tree.workspace()
        cls.rules = rules_of(cls.root)

    def test_keeps_to_the_rooms(self):
        packages = {tree.package_of(name).split("/")[0] for name in self.rules}
        # An empty answer would keep to every rule.
        for room in ("schema", "runtime", "exir", "backends", "extension"):
            self.assertIn(room, packages)
        self.assertEqual(rooms.violations(rooms.edges(self.rules)), [])

    def test_includes_only_what_targets_name(self):
        read, lines = includes.violations(self.root, self.rules)
        self.assertGreater(read, 1000)
        self.assertEqual(lines, [])

    def test_shows_only_what_users_need(self):
        self.assertEqual(public.violations(self.rules), [])


class PlantedTest(unittest.TestCase):
    """Each violation, planted in a tree of its own, is found."""

    def planted(self, files):
        root = tempfile.TemporaryDirectory()
        self.addCleanup(root.cleanup)
        write(root.name, dict(files, WORKSPACE=""))
        return root.name, rules_of(root.name)

    def test_edge_in_a_branch_of_a_select(self):
        _, rules = self.planted({
            "exir/BUILD.bazel": "sh_library(name = 'graph')",
            "schema/BUILD.bazel": "filegroup(name = 'fbs')",
            "runtime/BUILD.bazel":
                "filegroup(name = 'good', srcs = ['//schema:fbs'])\n"
                "filegroup(name = 'bad', srcs = select({\n"
                "    '//conditions:default': ['//exir:graph'],\n"
                "}))\n",
        })
        self.assertEqual(rooms.violations(rooms.edges(rules)), [
            "//runtime:bad -> //exir:graph: runtime depends on schema only"
        ])

    def test_include_of_a_library_that_came_along(self):
        library = "cc_library(name = '%s', srcs = %r, hdrs = %r, deps = %r)\n"
        root, rules = self.planted({
            "exir/ir/BUILD.bazel": library % ("ir", [], ["ir.h"], []),
            "exir/ir/ir.h": "",
            "exir/ops/BUILD.bazel": library % ("ops", [], ["ops.h"], ["//exir/ir:ir"]),
            "exir/ops/ops.h": '#include "exir/ir/ir.h"\n',
            "exir/pass/BUILD.bazel": library % ("pass", ["a.cc"], [], ["//exir/ops:ops"]),
            "exir/pass/a.cc": '#include "exir/ops/ops.h"\n  # include "exir/ir/ir.h"\n',
        })
        self.assertEqual(includes.violations(root, rules), (3, [
            "//exir/pass:pass: exir/pass/a.cc includes exir/ir/ir.h, and deps does "
            "not name its owner //exir/ir:ir"
        ]))

    def test_own_header_that_is_not_first(self):
        root, rules = self.planted({
            "runtime/BUILD.bazel":
                "cc_library(name = 'a', srcs = ['a.cc'], hdrs = ['a.h', 'b.h'])",
            "runtime/a.cc": '#include "runtime/b.h"\n#include "runtime/a.h"\n',
            "runtime/a.h": "",
            "runtime/b.h": "",
        })
        self.assertEqual(includes.violations(root, rules), (
            0, ["runtime/a.cc does not include runtime/a.h first"]))

    def test_call_of_what_came_along_in_a_header(self):
        root, rules = self.planted({
            "exir/BUILD.bazel": "cc_library(name = 'a', srcs = ['a.cc', 'b.cc'], hdrs = ['b.h'])",
            "exir/a.cc": 'auto text = absl::StrCat("x");\n',
            "exir/b.cc": '#include "exir/b.h"\nauto text = absl::StrCat("x");\n',
            "exir/b.h": '#include "absl/strings/str_cat.h"\n',
        })
        self.assertEqual(includes.violations(root, rules)[1], [
            "exir/a.cc calls what absl/strings/str_cat.h declares and does not include it"])

    def test_include_of_a_forbidden_room(self):
        root, rules = self.planted({
            "exir/BUILD.bazel": "cc_library(name = 'graph', hdrs = ['graph.h'])",
            "exir/graph.h": "",
            "runtime/BUILD.bazel": "cc_library(name = 'a', srcs = ['a.cc'])",
            "runtime/a.cc": '#include "exir/graph.h"\n',
        })
        _, lines = includes.violations(root, rules)
        self.assertIn("runtime/a.cc includes exir/graph.h: runtime depends on schema only",
                      lines)

    def test_public_target_that_nobody_asked_for(self):
        _, rules = self.planted({
            "exir/BUILD.bazel":
                "filegroup(name = 'mine', visibility = ['//visibility:public'])",
        })
        self.assertIn("//exir:mine is public, and nobody outside asks for it",
                      public.violations(rules))
        self.assertIn("//:runtime is in the list of public targets and is not public",
                      public.violations(rules))


if __name__ == "__main__":
    unittest.main()
