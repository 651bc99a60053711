# SPDX-License-Identifier: Apache-2.0
"""Sizes that are known at run time only: C computes with any of them bit for bit what the
interpreter does and what eager torch does, tells the sizes of its outputs, touches nothing behind
them, and refuses sizes that the model does not take."""

import math
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock
import zipfile

import arrays
import npy_file
import package
from command import PETREL, QUICK_PLAN, done

VARYING = pathlib.Path("test/models/varying").absolute()
#The exit code of package.APP for E_SHAPE.
BAD = 128 - 8


class VaryingTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def build(self, name, *words, more=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        model = VARYING / f"{name}.pt2"
        done([PETREL, "export", model, "-o", "m.pte", "--backend", "none",
              *QUICK_PLAN], self.folder)
        return package.Package(self.folder, "kws", [("forward", model)], words=words, more=more)

    def interpreted(self, files):
        """The outputs of m.pte with the reference kernels."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        words = [w for file in files for w in ("--input", file)]
        done([PETREL, "run", "m.pte", *words, "--kernels", "reference", "--output-dir", out],
             self.folder)
        return [npy_file.read(out / f"output_{i}.npy") for i in range(len(list(out.iterdir())))]

    def check(self, built, files):
        """The outputs, which are those of the interpreter."""
        expected = self.interpreted(files)
        varies = ["least_shape" in row for row in built.manifest["methods"][0]["inputs"]]
        given = [a if v else a.data for a, v in
                 zip(map(npy_file.read, files), varies, strict=True)]
        actual = built.run("forward", given)
        self.assertEqual(built.run("forward!", given), actual)
        self.assertEqual(len(actual), len(expected))
        for i, (a, e) in enumerate(zip(actual, expected)):
            self.assertEqual(built.shapes[0][i], e.shape, (files[0].name, i))
            self.assertTrue(arrays.same(a, e), (files[0].name, i))
        return expected

    def check_calls(self, name, *words, more=()):
        """The calls whose eager results are there: the smallest and the largest among them."""
        built = self.build(name, *words, more=more)
        calls = sorted({f.name.split(".")[1] for f in VARYING.glob(f"{name}.call_*.npy")})
        self.assertGreater(len(calls), 1)
        for call in calls:
            computed = self.check(built, sorted(VARYING.glob(f"{name}.{call}.input_*.npy")))
            for i, a in enumerate(computed):
                eager = npy_file.read(VARYING / f"{name}.{call}.output_{i}.npy")
                self.assertEqual((a.dtype, a.shape), (eager.dtype, eager.shape))
                for x, y in zip(npy_file.elements(a), npy_file.elements(eager), strict=True):
                    self.assertTrue(math.isclose(x, y, rel_tol=1e-4, abs_tol=1e-5), (call, i, x, y))
        built.selftest()
        return built

    def array(self, *shape):
        """A file of numbers without a pattern."""
        file = self.folder / f"x{'_'.join(map(str, shape))}.npy"
        values = [(i * 7919 % 1009 - 504) / 256 for i in range(math.prod(shape))]
        file.write_bytes(npy_file.written("<f4", shape, values))
        return file

    def status(self, built, *shape):
        array = npy_file.read(self.array(*(max(0, size) for size in shape)))
        (self.folder / "1.in0").write_bytes(array.data)
        (self.folder / "1.sizes0").write_bytes(
            b"".join(size.to_bytes(4, "little", signed=True) for size in shape))
        return subprocess.run([built.program("app"), "forward"], cwd=self.folder).returncode

    def test_rows_of_a_perceptron(self):
        built = self.check_calls("mlp")
        for rows in (0, 2, 15, 16):
            self.check(built, [self.array(rows, 8)])
        for shape in ((17, 8), (1000, 8), (5, 7), (5, 9)):
            self.assertEqual(self.status(built, *shape), BAD, shape)
        self.assertEqual(self.status(built, 3, 8), 0)

    def test_sizes_change_from_call_to_call_of_one_context(self):
        built = self.build("mlp")
        files = [self.array(rows, 8) for rows in (16, 1, 7, 16, 0, 2)]
        outputs = built.calls([("forward", [npy_file.read(f)]) for f in files])
        for file, shapes, output in zip(files, built.shapes, outputs, strict=True):
            expected = self.interpreted([file])
            self.assertEqual(shapes[0], expected[0].shape)
            self.assertTrue(arrays.same(output[0], expected[0]), file.name)

    def test_images_of_any_number_and_size(self):
        self.check_calls("cnn_batch")
        built = self.check_calls("cnn_image")
        for height, width in ((8, 32), (9, 9), (31, 8)):
            self.check(built, [self.array(1, 3, height, width)])
        for shape in ((1, 3, 33, 8), (1, 3, 8, 7), (2, 3, 8, 8), (1, 3, -8, -8)):
            self.assertEqual(self.status(built, *shape), BAD, shape)

    def test_tokens_of_any_length(self):
        for name in ("encoder", "prefill"):
            self.check_calls(name)

    def test_places_frames_and_powers_of_sizes(self):
        for name in ("windows", "vocoder", "powers"):
            self.check_calls(name)

    def test_counts_from_the_end_and_branches(self):
        for name in ("few_rows", "cond_varying"):
            self.check_calls(name)

    def test_numbers_that_tensors_hold(self):
        for name in ("found_start", "found_rows", "found_scales", "found_limits"):
            self.check_calls(name)
            self.check_calls(name, "--io", "caller", "--pool", "name=fast,limit=64", "--pool",
                             "name=slow", more=package.UNOPTIMISED)
        built = self.build("found_rows", more=package.UNOPTIMISED)
        method = built.manifest["methods"][0]
        self.assertEqual([(s["least"], s["most"], s["found"]) for s in method["sizes"]],
                         [(1, 6, "item")])
        rows = npy_file.read(VARYING / "found_rows.call_0.input_0.npy").data
        for number in (0, 7, -1, 2**40):  # beyond what the model was exported for: E_DATA
            with self.assertRaisesRegex(AssertionError, "forward: 123"):
                built.run("forward", [rows, number.to_bytes(8, "little", signed=True)])

    def test_numbers_that_are_outputs(self):
        self.check_calls("returned_numbers", more=package.SANITIZED)

    # The app of the test frees nothing where a run fails.
    @unittest.mock.patch.dict(os.environ, {"ASAN_OPTIONS": "detect_leaks=0"})
    def test_tensors_of_which_data_tell_how_many(self):
        self.check_calls("mask_rows", more=package.SANITIZED)
        self.check_calls("selected", more=package.SANITIZED)
        self.check_calls("masked_places", "--io", "caller")
        built = self.check_calls("masked_places", "--pool", "name=fast,limit=256", "--pool",
                                 "name=slow", more=package.SANITIZED)
        sizes = built.manifest["methods"][0]["sizes"]
        self.assertEqual([(s["least"], s["most"]) for s in sizes if "found" in s][1], (0, 40))
        rows = npy_file.read(self.array(2, 3))

        def run(*times):
            return built.run("forward", [rows, npy_file.Array("<i8", (2,), b"".join(
                n.to_bytes(8, "little", signed=True) for n in times))])

        self.assertEqual(len(run(0, 0)[2]), 0)
        self.assertEqual(len(run(38, 2)[2]), 40 * 3 * 4)
        for times in ((39, 2), (0, 41), (-1, 3), (2**40, 0), (2**63 - 1, 2**63 - 1)):
            with self.assertRaisesRegex(AssertionError, "forward: 123"):
                run(*times)

    def test_images_that_are_averaged(self):
        self.check_calls("resamples")

    # The app of the test frees nothing where a run fails.
    @unittest.mock.patch.dict(os.environ, {"ASAN_OPTIONS": "detect_leaks=0"})
    def test_places_that_tensors_hold(self):
        for words in ((), ("--io", "caller")):
            built = self.check_calls("found_places", *words)
            built.compile(more=package.SANITIZED)
            rows = npy_file.read(self.array(4, 3))

            def run(*places):
                return built.run("forward", [rows, *(place.to_bytes(8, "little", signed=True)
                                                     for place in places)])

            self.assertEqual(len(run(-4, 2, 3)), 3)
            # There are so many rows in other calls: E_DATA, and nothing is read or written there.
            for places in ((4, 0, 0), (5, 0, 0), (6, 0, 0), (-5, 0, 0), (-7, 0, 0), (2**40, 0, 0),
                           (0, 3, 0), (0, 4, 0), (0, -1, 0), (0, 0, 4), (0, 0, 5), (0, 0, -1)):
                with self.assertRaisesRegex(AssertionError, "forward: 123"):
                    run(*places)

    def test_number_without_bounds_is_refused_with_its_remedy(self):
        with zipfile.ZipFile(VARYING / "found_start.pt2") as old, \
                zipfile.ZipFile(self.folder / "n.pt2", "w") as new:
            for name in old.namelist():
                data = old.read(name)
                new.writestr(name, data.replace(b'{"min_val": 0, "max_val": 4}',
                                                b'{"min_val": 0, "max_val": null}'))
                self.assertTrue(len(data) != len(new.read(name)) or "model.json" not in name)
        result = subprocess.run([PETREL, "gen-c", "n.pt2", "-o", "no"], cwd=self.folder, text=True,
                                stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"(symbol u0 has no upper bound|which has no bounds); say .*"
                                        r"torch\._check\(\w+ <= N\)")
        self.assertFalse((self.folder / "no").exists())

    def test_numbers_that_sizes_make(self):
        self.check_calls("sizes")
        built = self.check_calls("number_arguments")
        for rows in (4, 9):
            self.check(built, [self.array(rows, 3)])
        built = self.check_calls("numbers")
        for rows in (3, 7):
            self.check(built, [self.array(rows, 3)])
        self.check_calls("numbers", "--pool", "name=fast,limit=512", "--pool", "slow=unlimited",
                         more=package.UNOPTIMISED)

    def test_images_are_resized_padded_and_rolled(self):
        built = self.check_calls("resizes")
        for height, width in ((3, 9), (9, 9), (4, 7)):
            self.check(built, [self.array(1, 2, height, width)])

    def test_rows_are_ordered_padded_and_counted_around(self):
        self.check_calls("ordered")
        self.check_calls("ordered", "--pool", "name=fast,limit=256", "--pool", "slow=unlimited",
                         more=package.UNOPTIMISED)

    def test_memory_of_the_caller_and_pools(self):
        self.check_calls("cnn_image", "--io", "caller", "--pool", "name=fast,limit=16K", "--pool",
                         "slow=unlimited", more=package.UNOPTIMISED)
        built = self.check_calls("mlp", "--io", "caller", more=package.UNOPTIMISED)
        self.assertEqual(self.status(built, 17, 8), BAD)

    def test_sanitizers_find_nothing(self):
        for name in ("mlp", "cnn_image", "prefill", "ordered"):
            built = self.build(name, more=package.SANITIZED)
            for call in (0, 1, 2):
                self.check(built, sorted(VARYING.glob(f"{name}.call_{call}.input_*.npy")))

    def test_cplusplus_takes_it(self):
        package.generate(self.folder, "kws", [("forward", VARYING / "mlp.pt2")])
        for name in ("kws.c", "kws_metadata.c", "kws_selftest.c"):
            done(["g++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Wconversion",
                  "-Wsign-conversion", "-Wshadow", "-pedantic", "-Werror", "-c",
                  self.folder / "c" / name, "-o", "x.o"], self.folder)

    def test_manifest_and_header_say_what_varies(self):
        manifest = package.generate(self.folder, "kws", [("forward", VARYING / "mlp.pt2")])
        method = manifest["methods"][0]
        self.assertEqual([(s["least"], s["most"], s["input"], s["dim"]) for s in method["sizes"]],
                         [(0, 16, "input", 0)])
        tensor = method["inputs"][0]
        self.assertEqual((tensor["shape"], tensor["least_shape"]), ([16, 8], [0, 8]))
        self.assertEqual(method["outputs"][0]["least_shape"], [0, 4])
        header = (self.folder / "c/kws.h").read_text()
        self.assertIn("#define KWS_INPUT_INPUT_SHAPE {16, 8}\n", header)
        self.assertIn("#define KWS_INPUT_INPUT_LEAST_SHAPE {0, 8}\n", header)

    def test_kernels_of_the_user_know_no_sizes_that_vary(self):
        (self.folder / "my.c").write_text("void my(const void *const *in, void *const *out);\n")
        result = subprocess.run([PETREL, "gen-c", VARYING / "mlp.pt2", "-o", "no", "--kernel-source",
                                 "my.c:my", "--kernel", "relu=my"], cwd=self.folder, text=True,
                                stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"--kernel 'relu=my': node 'relu' .*: '\w+' has sizes that "
                                        "vary, which your function is not told")
        self.assertFalse((self.folder / "no").exists())

    def test_what_takes_no_sizes_that_vary_is_refused_all_at_once(self):
        for name, messages in (("number_refusals", [
                "argument 'alpha' is computed from sizes",
                "C does not divide numbers by what may be 0"]),):
            result = subprocess.run([PETREL, "gen-c", VARYING / f"{name}.pt2", "-o", "no"],
                                    cwd=self.folder, text=True, stderr=subprocess.PIPE)
            self.assertNotEqual(result.returncode, 0)
            for message in messages:
                self.assertIn(message, result.stderr)
            self.assertRegex(result.stderr, r"node '\w+' \(\S+\) at \S+:\d+")
            self.assertFalse((self.folder / "no").exists())


if __name__ == "__main__":
    unittest.main()
