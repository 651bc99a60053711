# SPDX-License-Identifier: Apache-2.0
"""Models that are hard to write as C: numbers that no double holds, names that C has taken or
that would leave their comment, outputs that come twice, indices that never are 0."""

import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest
import zipfile

import arrays
import npy_file
import package
from command import PETREL, done

PORTABLE = pathlib.Path("test/models/portable").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()


def renamed(archive, to, names):
    """A copy of an archive whose strings that are keys of `names` are the values."""
    def rewritten(node):
        if isinstance(node, dict):
            return {names.get(k, k): rewritten(v) for k, v in node.items()}
        if isinstance(node, list):
            return [rewritten(v) for v in node]
        if isinstance(node, str) and node.startswith('File "'):
            return names.get("stack", node)
        return names.get(node, node) if isinstance(node, str) else node

    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith(".json"):
                data = json.dumps(rewritten(json.loads(data))).encode()
            new.writestr(name, data)


class OddModelsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def inputs(self, name):
        return sorted(PORTABLE.glob(f"{name}.input_*.npy"))

    def package(self, name, **more):
        return package.Package(self.folder, "kws", [("forward", PORTABLE / f"{name}.pt2")], **more)

    def check(self, name):
        """As the interpreter and as eager torch computed it; bit for bit, all are exact."""
        built = self.package(name)
        actual = built.run("forward", [npy_file.read(f).data for f in self.inputs(name)])
        expected = arrays.interpreted(self.folder, PORTABLE / f"{name}.pt2", self.inputs(name))
        self.assertEqual(len(actual), len(list(PORTABLE.glob(f"{name}.output_*.npy"))))
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            self.assertTrue(arrays.same(a, e), f"output {i} differs from the interpreter's")
            eager = npy_file.read(PORTABLE / f"{name}.output_{i}.npy")
            self.assertTrue(arrays.same(a, eager), f"output {i} differs from eager torch")
        built.selftest()
        return built

    def names(self, built, role):
        return [(t["name"], t["c_name"]) for t in built.manifest["methods"][0][role]]

    def gen(self, *words, **more):
        return subprocess.run([PETREL, "gen-c", *map(str, words)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def test_integers_that_no_double_holds(self):
        self.check("large_integers")

    def test_numbers_that_export_knows_are_outputs(self):
        rows = self.check("known_numbers").manifest["methods"][0]["outputs"]
        self.assertEqual([(r["dtype"], r["shape"]) for r in rows[1:4]],
                         [("i64", []), ("i64", []), ("f64", [])])

    def test_self_test_sees_one_integer_that_is_wrong(self):
        built = self.package("large_integers")
        file = self.folder / "c/kws_selftest.c"
        text = file.read_text()
        expected = list(re.finditer(r"int\d+_t kws_expected_\w+\[\d+\] = \{\s*([^,}]+)", text))
        self.assertGreater(len(expected), 3)
        for one in (expected[0], expected[-1]):
            file.write_text(text[:one.start(1)] + ("1" if one[1] != "1" else "0") +
                            text[one.end(1):])
            built.programs.clear()
            self.assertEqual(subprocess.run([built.program("selftest")]).returncode, 1, one[0])
        file.write_text(text)
        built.programs.clear()
        built.selftest()

    def test_nothing_to_reduce(self):
        self.check("nothing_reduced")

    def test_names_stay_in_their_comments(self):
        evil = ["*/ int EVIL; /*", "/*/ int EVIL; //", "*\\\n/ int EVIL; //",
                "*\\\r\n/ int EVIL; //", "*??/\n/ int EVIL; //", "\n*/ int EVIL;", "/a\\", "a??/",
                "\N{RIGHT-TO-LEFT OVERRIDE}\N{FIRST STRONG ISOLATE}é\x7f"]
        for i, text in enumerate(evil):
            folder = self.folder / str(i)
            folder.mkdir()
            model = folder / "m.pt2"
            renamed(PORTABLE / "words.pt2", model, {
                "default": "w" + text, "mul": "m" + text, "linux": "l" + text,
                "stack": f'File "/a{text}", line 15, in forward\n    y'})
            method = "f" + text.replace("=", "")
            done([PETREL, "gen-c", "--method", f"{method}={model}", "--method", f"g={model}",
                  "-o", "c", "--name", "kws"], folder)
            for language in (["gcc", "-std=c99"], ["gcc", "-std=gnu17"]):
                for part in ("kws", "kws_params", "kws_metadata", "kws_selftest"):
                    done([*language, *package.WARNINGS, "-c", f"c/{part}.c", "-o", f"{part}.o"],
                         folder)
            self.assertNotRegex(done(["nm", "kws.o", "kws_params.o"], folder), r"\bEVIL\b",
                                repr(text))
            for file in (folder / "c").glob("kws*.[ch]"):
                self.assertTrue(file.read_bytes().isascii(), file)

    def test_package_name_may_begin_with_the_project(self):
        for name in ("petrel_kws", "petrel_context"):
            folder = self.folder / name
            folder.mkdir()
            built = package.Package(folder, name, [("forward", PORTABLE / "cell.pt2"),
                                                   ("petrel_run", DIGITS)],
                                    more=package.UNOPTIMISED)
            built.selftest()

    def test_self_test_finds_indices_that_fit(self):
        built = self.check("from_one")
        self.assertIn("kws_expected_", (self.folder / "c/kws_selftest.c").read_text())
        self.assertEqual(len(built.manifest["methods"][0]["outputs"]), 1)

    def test_self_test_without_indices_that_fit_says_so(self):
        self.check("from_ten")
        self.assertIn("Method 'forward' is not run", (self.folder / "c/kws_selftest.c").read_text())
        result = self.gen(PORTABLE / "from_ten.pt2", "-o", "again")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "method 'forward' is not part of the self-test.*InvalidArg")

    def test_outputs_that_come_twice(self):
        built = self.check("repeated")
        names = self.names(built, "outputs")
        self.assertEqual([c for _, c in names], ["add", "add_1", "x", "x_1", "add_2"])
        self.assertEqual([n for n, _ in names], ["add", "add", "x", "x", "add"])

    def test_names_that_differ_in_case_only_are_named(self):
        result = self.gen(PORTABLE / "cases.pt2", "-o", "c")
        self.assertEqual(result.returncode, 1)
        self.assertIn("inputs 'x' and 'X' would both be called X in macros", result.stderr)

    def test_names_that_meet_where_they_are_joined_are_named(self):
        for name, words in (("a", {"linux": "input_x"}), ("a_input", {"linux": "x"})):
            renamed(PORTABLE / "words.pt2", self.folder / f"{name}.pt2", words)
        result = self.gen("--method", "a=a.pt2", "--method", "a_input=a_input.pt2", "-o", "c",
                          "--name", "kws")
        self.assertEqual(result.returncode, 1)
        self.assertIn("kws.h would have two things called KWS_A_INPUT_INPUT_X_", result.stderr)
        self.assertFalse((self.folder / "c").exists())

    def test_words_of_the_languages_get_an_underscore(self):
        self.assertEqual(self.names(self.check("bits"), "outputs"), [("xor", "xor_")])
        folder = self.folder / "words"
        folder.mkdir()
        self.folder = folder
        built = self.check("words")
        self.assertEqual(self.names(built, "inputs"), [("linux", "linux_"), ("typeof", "typeof_")])
        self.assertEqual([p["symbol"] for p in built.manifest["parameters"]], ["kws_param_default"])
        for name in ("NULL", "INFINITY", "UINT8_MAX", "int32_t", "co_await", "bitand"):
            folder = self.folder / name
            folder.mkdir()
            renamed(PORTABLE / "words.pt2", folder / "m.pt2", {"linux": name})
            package.Package(folder, "kws", [("forward", folder / "m.pt2")],
                            more=package.UNOPTIMISED)
            done(["g++", "-x", "c++", "-std=c++20", "-Wall", "-Werror", "-c", "c/kws.c", "-o",
                  "x.o"], folder)

    def test_package_names_that_hide_headers_are_wrong_usage(self):
        for name in ("math", "stdint", "string", "stddef", "stdbool", "petrel_model", "int"):
            result = self.gen("not_there.pt2", "-o", "c", "--name", name)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(f"the package name is '{name}'", result.stderr)
        self.assertFalse((self.folder / "c").exists())

    def test_folder_of_a_failed_write_is_removed(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        result = self.gen(DIGITS, "-o", "a/b/c", restore_signals=False, preexec_fn=limit)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertFalse((self.folder / "a").exists())
        (self.folder / "a").mkdir()
        result = self.gen(DIGITS, "-o", "a/b/c", restore_signals=False, preexec_fn=limit)
        self.assertEqual(list((self.folder / "a").iterdir()), [])

    def test_memory_of_the_arena_is_no_input_but_in_its_place(self):
        self.package("cell")
        (self.folder / "feed.c").write_text(FEED)
        done(["gcc", "-std=c99", "-Ic", "feed.c", "kws.o", "kws_params.o", "-lm", "-o", "feed"],
             self.folder)
        done(["./feed"], self.folder)


FEED = """#include "kws.h"
static unsigned char memory[KWS_ARENA_BYTES + KWS_ARENA_ALIGN];
int main(void) {
  static const float x[KWS_INPUT_X_ELEMENTS] = {1};
  static const float h[KWS_INPUT_H_ELEMENTS] = {2};
  float sum[KWS_OUTPUT_SUM_1_ELEMENTS], next[KWS_OUTPUT_TANH_ELEMENTS];
  struct kws_context context;
  struct kws_pools pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  const uintptr_t rest = (uintptr_t)memory % KWS_ARENA_ALIGN;
  pools.arena = memory + (rest == 0 ? 0 : KWS_ARENA_ALIGN - rest);
  pools.arena_bytes = KWS_ARENA_BYTES;
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  inputs.x = x;
  inputs.h = h;
  outputs.sum_1 = sum;
  outputs.tanh = next;
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 2;
  /* What a caller has is its own. */
  inputs.h = next;
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 3;
  inputs.h = kws_input_h(&context);
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 4;
  outputs.tanh = kws_output_tanh(&context);
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 5;
  inputs.h = kws_input_h(&context) + 1;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_ALIAS) return 6;
  inputs.h = kws_input_x(&context);
  if (kws_run(&context, &inputs, &outputs) != KWS_E_ALIAS) return 7;
  inputs.h = (const float *)(const void *)((unsigned char *)pools.arena - 4);
  if (kws_run(&context, &inputs, &outputs) != KWS_E_ALIAS) return 8;
  inputs.h = h;
  outputs.tanh = kws_output_tanh(&context) + 1;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_ALIAS) return 9;
  outputs.tanh = next;
  return kws_run(&context, &inputs, &outputs) == KWS_OK ? 0 : 10;
}
"""


if __name__ == "__main__":
    unittest.main()
