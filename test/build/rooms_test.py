# SPDX-License-Identifier: Apache-2.0
"""The rules about edges between rooms allow what they should and no more."""
import unittest

import rooms


def code(source, destination):
    """The verdict on an edge from code to code."""
    return rooms.violation(rooms.Edge(source, destination, False, False))


class RuleTest(unittest.TestCase):

    def test_allows_every_edge_of_the_design(self):
        for source, destination in (
            ("//runtime/core:a", "//schema:b"),
            ("//runtime/core:a", "//runtime/program:b"),
            ("//exir/ir:a", "//schema:b"),
            ("//exir/fold:a", "//runtime/executor:b"),
            ("//exir/memory:a", "//runtime/kernels/scratch:b"),
            ("//exir/pass/framework:a", "//runtime/kernels/narrow:b"),
            ("//backends/x/aot:a", "//exir/backend:b"),
            ("//backends/x/aot:a", "//backends/x/format:b"),
            ("//backends/x/runtime:a", "//runtime/backend:b"),
            ("//backends/x/runtime:a", "//backends/x/format:b"),
            ("//backends/x/format:a", "//schema:b"),
            ("//extension/cli:a", "//exir/driver:b"),
            ("//extension/cli:a", "//extension/module:b"),
            ("//extension/cli:a", "//backends/x/aot:b"),
            ("//test/interop:a", "//extension/cli:b"),
            ("//examples:a", "//extension/module:b"),
            ("//examples:a", "//:petrel"),
            ("//docs:a", "//extension/cli:petrel"),
            ("//:petrel", "//extension/cli:petrel"),
            ("//extension/python/wheel:a", "//:NOTICE"),
            ("//runtime/core:a", "//third_party:b"),
            ("//runtime/program:a", "//schema:program_fbs"),
            ("//exir/emit:a", "//schema:flat_data_fbs"),
            ("//test/faults:a", "//schema:program_fbs"),
        ):
            self.assertIsNone(code(source, destination), (source, destination))

    def test_refuses_every_edge_against_the_design(self):
        for source, destination in (
            ("//schema:a", "//runtime/core:b"),
            ("//runtime/core:a", "//exir/ir:b"),
            ("//runtime/core:a", "//extension/module:b"),
            ("//runtime/core:a", "//backends/x/runtime:b"),
            ("//runtime/core:a", "//:module"),
            ("//runtime/executor:a", "//schema:program_fbs"),
            ("//extension/cli:a", "//schema:additions_fbs"),
            ("//extension/module:a", "//schema:flat_data_fbs"),
            ("//extension/cli:a", "//schema:program_objects_fbs"),
            ("//backends/xnnpack/runtime:a", "//schema:xnnpack_fbs"),
            ("//exir/ir:a", "//runtime/core:b"),
            ("//exir/emit:a", "//runtime/kernels/portable:b"),
            ("//exir/plan:a", "//runtime/kernels/scratch:b"),
            ("//exir/ir:a", "//runtime/kernels/narrow:b"),
            ("//exir/ir:a", "//backends/x/aot:b"),
            ("//exir/ir:a", "//extension/cli:b"),
            ("//backends/x/aot:a", "//backends/x/runtime:b"),
            ("//backends/x/runtime:a", "//backends/x/aot:b"),
            ("//backends/x/aot:a", "//backends/y/aot:b"),
            ("//backends/x/runtime:a", "//backends/y/format:b"),
            ("//backends/x/aot:a", "//runtime/core:b"),
            ("//backends/x/runtime:a", "//exir/ir:b"),
            ("//backends/x/runtime:a", "//extension/threadpool:b"),
            ("//backends/x/format:a", "//runtime/core:b"),
            ("//backends/x:a", "//runtime/core:b"),
            ("//extension/cli:a", "//test/models:b"),
            ("//extension/cli:a", "//examples:b"),
            ("//examples:a", "//test/models:b"),
            ("//runtime/core:a", "//test/models:b"),
            ("//third_party/x:a", "//runtime/core:b"),
            ("//extension/cli:a", "//docs:b"),
            ("//extension/python:a", "//extension/cli:b"),
            ("//extension/python:a", "//extension/c_api:b"),
            ("//runtime/core:a", "//elsewhere:b"),
        ):
            self.assertIsNotNone(code(source, destination),
                                 (source, destination))

    def test_lets_tests_but_not_code_read_fixtures(self):
        for source in ("//exir/import:a", "//extension/cli:a"):
            label = "//test/models:fixtures"
            self.assertIsNone(
                rooms.violation(rooms.Edge(source, label, True, True)))
            self.assertIsNotNone(
                rooms.violation(rooms.Edge(source, label, False, True)))
            self.assertIsNotNone(
                rooms.violation(rooms.Edge(source, label, True, False)))

    def test_lets_extension_but_not_the_rest_read_example_models(self):
        label = "//examples/quickstart:digits.pt2"
        self.assertIsNone(rooms.violation(
            rooms.Edge("//extension/module:a", label, False, True)))
        self.assertIsNotNone(rooms.violation(
            rooms.Edge("//extension/module:a", label, False, False)))
        self.assertIsNotNone(rooms.violation(
            rooms.Edge("//runtime/core:a", label, True, True)))

    def test_lets_tests_of_examples_run_the_conformance_suite(self):
        def verdict(source, label, is_test):
            return rooms.violation(rooms.Edge(source, label, is_test, False))
        suite = "//test/conformance:suite"
        self.assertIsNone(verdict("//examples/x:a", suite, True))
        self.assertIsNotNone(verdict("//examples/x:a", suite, False))
        self.assertIsNotNone(verdict("//extension/cli:a", suite, True))
        self.assertIsNotNone(verdict("//examples/x:a", "//test/faults:b", True))

    def test_lets_tests_of_any_room_read_eager_cases(self):
        def verdict(source, label, is_test):
            return rooms.violation(rooms.Edge(source, label, is_test, False))
        reader = "//test/eager:case_file"
        for source in ("//runtime/kernels/x:a", "//exir/ops:a", "//backends/x/aot:a"):
            self.assertIsNone(verdict(source, reader, True), source)
            self.assertIsNotNone(verdict(source, reader, False), source)
        for label in ("//runtime/core:a", "//exir/ir:a", "//test/faults:a"):
            self.assertIsNotNone(verdict(reader, label, True), label)


if __name__ == "__main__":
    unittest.main()
