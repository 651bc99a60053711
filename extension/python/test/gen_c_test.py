# SPDX-License-Identifier: Apache-2.0
"""petrel.gen_c: the files of `petrel gen-c` byte for byte, and what is wrong as an exception."""

import inspect
import json
import pathlib
import subprocess
import tempfile
import unittest

import petrel

DIGITS = "examples/quickstart/digits.pt2"
PETREL = "extension/cli/petrel"


class GenCTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check_same(self, words, methods=None, **options):
        """Of the files and the manifest that is returned."""
        model = [w for m, file in (methods or {}).items() for w in ("--method", f"{m}={file}")]
        subprocess.run([PETREL, "gen-c", *(model or [DIGITS]), "-o", self.folder / "command",
                        *words], check=True)
        manifest = petrel.gen_c(None if methods else DIGITS, methods=methods,
                                output=self.folder / "python", **options)
        files = {f.name: f.read_bytes() for f in (self.folder / "command").iterdir()}
        self.assertEqual({f.name: f.read_bytes() for f in (self.folder / "python").iterdir()},
                         files)
        self.assertEqual(manifest, json.loads(files["manifest.json"]))
        return manifest

    def test_files_are_those_of_the_command(self):
        self.check_same([])

    def test_options_are_those_of_the_command(self):
        manifest = self.check_same(
            ["--name", "kws", "--pool", "name=sram,limit=12K", "--pool", "dram=unlimited", "--pool",
             "name=flash,kind=ro", "--pin", "image=dram", "--params", "pool", "--link-param",
             "*bias*=external", "--constants", "incbin", "--io", "arena", "--reorder", "--interface",
             "direct"],
            name="kws", pool=["name=sram,limit=12K", "dram=unlimited", "name=flash,kind=ro"],
            pin=["image=dram"], params="pool", link_param=["*bias*=external"], constants="incbin",
            io="arena", reorder=True, interface="direct")
        self.assertEqual({p["kind"] for p in manifest["parameters"]}, {"pooled", "external"})

    def test_several_methods_become_one_package(self):
        manifest = self.check_same(["--name", "two"], {"forward": DIGITS, "again": DIGITS},
                                   name="two")
        self.assertEqual([m["name"] for m in manifest["methods"]], ["again", "forward"])

    def test_every_option_of_the_command_is_a_keyword(self):
        text = subprocess.run([PETREL, "gen-c", "--help"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        flags = {w.split(",")[0].lstrip("-") for w in text.split() if w.startswith("--")}
        keywords = set(inspect.signature(petrel.gen_c).parameters)
        self.assertGreater(len(flags), 10)
        missing = {f for f in flags if f.replace("-", "_") not in keywords}
        # Backends are objects with a dict of specs.
        self.assertLessEqual(missing, {"help", "method", "output", "compile-spec"})
        self.assertLessEqual({"backend", "compile_specs"}, keywords)

    def test_backends_of_python_have_partitions_in_c(self):
        class Partitioner(petrel.Partitioner):
            def supports(self, node):
                return True if "relu" in node.op else "is no relu"

        class Mine(petrel.Backend):
            id = "MyNpu"
            target = "npu"
            partitioner = Partitioner()

            def preprocess(self, partition, store):
                return b"relu"

        manifest = petrel.gen_c(DIGITS, output=self.folder / "npu", backend=Mine(),
                                partition="supported",
                                pool=["name=fast,targets=c", "name=shared,targets=c,npu"])
        self.assertGreater(len(manifest["delegates"]), 0)
        self.assertEqual({(d["backend"], d["target"], d["driver"])
                          for d in manifest["delegates"]}, {("MyNpu", "npu", "my_npu")})
        self.assertEqual({p["bytes"] for p in manifest["parameters"] if p["kind"] == "delegate"},
                         {4})

    def test_a_function_plans_memory_and_its_plan_is_checked(self):
        asked = []

        def one_behind_the_other(problem):
            asked.append(problem)
            at, places = 0, []
            for buffer in problem["buffers"]:
                places.append({"id": buffer["id"], "pool": buffer["pools"][0], "offset": at})
                at += -(-buffer["size"] // 64) * 64
            return {"buffers": places}

        manifest = petrel.gen_c(DIGITS, output=self.folder / "own", planner=one_behind_the_other)
        least = petrel.gen_c(DIGITS, output=self.folder / "least")
        self.assertGreater(manifest["arena_bytes"], least["arena_bytes"])
        buffers = asked[0]["buffers"]
        end = sum(-(-b["size"] // 64) * 64 for b in buffers[:-1]) + buffers[-1]["size"]
        self.assertEqual(manifest["arena_bytes"], -(-end // 16) * 16)
        self.assertTrue(all(b["lower"] < b["upper"] and b["alignment"] >= 1 for b in buffers))
        program = petrel.export(DIGITS, backend=None, planner=one_behind_the_other)
        self.assertGreater(len(asked), 1)
        self.assertTrue(program.path)

        def in_one_place(problem):
            return {"buffers": [{"id": b["id"], "offset": 0} for b in problem["buffers"]]}

        def broken(problem):
            raise KeyError("no idea")

        for planner, error, message in (
                (in_one_place, petrel.Error, "overlap at time"),
                (lambda problem: {}, petrel.Error, "answer of the planner"),
                (lambda problem: object(), TypeError, "not JSON serializable"),
                (broken, KeyError, "no idea")):
            with self.assertRaisesRegex(error, message):
                petrel.gen_c(DIGITS, output=self.folder / "no", planner=planner)
            with self.assertRaisesRegex(error, message):
                petrel.export(DIGITS, backend=None, planner=planner)
        with self.assertRaisesRegex(ValueError, "planner_command is given, too"):
            petrel.gen_c(DIGITS, output=self.folder / "no", planner=broken, planner_command="true")
        self.assertFalse((self.folder / "no").exists())

    def test_what_is_wrong_is_an_exception_and_writes_nothing(self):
        for options, message in (
                ({"io": "shelf"}, "io must be arena or caller, is 'shelf'"),
                ({"name": "int"}, "the package name is 'int'"),
                ({"pool": ["sram"]}, "--pool is 'sram', must be NAME=BYTES"),
                ({"params": "pool", "pin": ["x=y"]},
                 "--pin 'x=y': there is no --pool of that name\n--params pool: there is no")):
            with self.assertRaises(ValueError) as raised:
                petrel.gen_c(DIGITS, output=self.folder / "no", **options)
            self.assertIn(message, str(raised.exception))
        with self.assertRaises(TypeError):
            petrel.gen_c(DIGITS, output=self.folder / "no", pin={"x": "y"}, group=[1])
        with self.assertRaises(petrel.Error):
            petrel.gen_c(self.folder / "absent.pt2", output=self.folder / "no")
        self.assertFalse((self.folder / "no").exists())


if __name__ == "__main__":
    unittest.main()
