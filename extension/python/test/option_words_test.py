# SPDX-License-Identifier: Apache-2.0
"""Every keyword that is an option of the command, with values that it does not take."""

import inspect
import pathlib
import tempfile
import unittest

import numpy
import petrel
from elementwise import model

CALLS = {"export": petrel.export, "gen_c": petrel.gen_c}
OTHERS = ("model", "args", "methods", "backend", "compile_specs", "output", "planner")


def options_of(call):
    return [name for name, parameter in inspect.signature(call).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in OTHERS]


class OptionWordsTest(unittest.TestCase):

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def call(self, call, **options):
        if call == "gen_c":
            options["output"] = self.folder / "c"
        return CALLS[call](model("affine"), backend=None, **options)

    def test_a_value_must_be_words(self):
        for call, function in CALLS.items():
            options = options_of(function)
            self.assertGreater(len(options), 15)
            for option in options:
                for value in (1.5, b"name", [b"name"], ["name", None], [[]], {"a": 1.5}, object()):
                    with self.assertRaises((TypeError, ValueError), msg=(call, option, value)):
                        self.call(call, **{option: value})

    def test_only_flags_are_given_without_a_value(self):
        for call, function in CALLS.items():
            for option in options_of(function):
                if function.__kwdefaults__[option] is False:  # a flag
                    with self.assertRaisesRegex(ValueError, "without a value"):
                        self.call(call, **{option: ["yes"]})
                else:
                    with self.assertRaises((TypeError, ValueError), msg=(call, option)) as raised:
                        self.call(call, **{option: True})
                    self.assertIn(option, str(raised.exception))

    def test_lists_of_nothing_are_not_given(self):
        for call, function in CALLS.items():
            for option in options_of(function):
                if not option.startswith("external"):  # names of files
                    self.call(call, **{option: []})

    def test_words_have_no_zero_byte(self):
        for options in ({"quantize": "q.json\0x"}, {"external_weights": "w\0.ptd"},
                        {"external": {"*": "w\0.ptd"}}, {"planner_command": "true\0"}):
            with self.assertRaisesRegex(ValueError, "zero byte"):
                self.call("export", **options)
        for options in ({"quantize": "q.json\0x"}, {"package": "p.tar\0x"}):
            with self.assertRaisesRegex(ValueError, "zero byte"):
                self.call("gen_c", **options)

    def test_numbers_and_paths_are_words(self):
        program = self.call("export", max_arena_bytes=numpy.int64(1 << 20))
        self.assertTrue(program.report()["methods"])
        with self.assertRaisesRegex(petrel.Error, "absent.json"):
            self.call("export", quantize=self.folder / "absent.json")


if __name__ == "__main__":
    unittest.main()
