# SPDX-License-Identifier: Apache-2.0
"""Plans that lay results over operands and run nodes row by row: for every budget down to what
cannot be met, the generated code reads no byte that it has written over, and its outputs are the
interpreter's bit for bit. That the watcher sees such a read is shown with a plan that is wrong."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import npy_file
from command import PETREL, done
from package import WARNINGS

INTEGER = pathlib.Path("test/quantized/integer").absolute()
SHADOW = pathlib.Path("test/portable_c/shadow.c").absolute()
NETWORKS = ("keywords", "blocks_0", "blocks_1", "blocks_2", "blocks_3")
INTEGERS = ("--int8", "integer")
WATCHED = ("-O1 -ffp-contract=off -fsanitize=kernel-address "
           "--param=asan-instrumentation-with-call-threshold=0 --param=asan-stack=0 "
           "--param=asan-globals=0 -Dmemcpy=shadow_copy").split()


class ShadowTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def expected(self, name):
        model = INTEGER / name
        done([PETREL, "export", model.with_suffix(".pt2"), "-o", "i.pte", "--backend", "none",
              *INTEGERS], self.folder)
        done([PETREL, "run", "i.pte", "--input", model.with_suffix(".input.npy"), "--kernels",
              "reference", "--output-dir", "want"], self.folder)
        return npy_file.read(self.folder / "want/output_0.npy").data

    def generate(self, name, *words):
        """The manifest, or None where the budget cannot be met."""
        run = subprocess.run([PETREL, "gen-c", INTEGER / f"{name}.pt2", "-o", "c", "--name", "net",
                              *INTEGERS, *words], cwd=self.folder, capture_output=True, text=True,
                             check=False)
        if run.returncode != 0:
            self.assertIn("exceed max_arena_bytes", run.stderr)
            return None
        return json.loads((self.folder / "c/manifest.json").read_text())

    def compile(self, manifest):
        method, = manifest["methods"]
        rows = [(one["step"], int(re.fullmatch(r"arena \+ (\d+)", one["place"])[1]), one["bytes"])
                for one in method["shared"]]
        given, made = method["inputs"][0], method["outputs"][0]
        text = "static const struct { uint32_t step; size_t begin, bytes; } watched[] = {"
        text += ", ".join("{%du, %du, %du}" % row for row in rows or [(0, 0, 0)]) + "};\n"
        for role, tensor in (("IN", given), ("OUT", made)):
            text += f"#define {role} {tensor['c_name']}\n#define {role}_BYTES {tensor['bytes']}u\n"
        (self.folder / "watched.h").write_text(text)
        c = self.folder / "c"
        done(["gcc", "-std=c99", *WARNINGS, *WATCHED, f"-I{c}", "-c", c / "net.c", "-o", "net.o"],
             self.folder)
        done(["gcc", "-std=c11", "-O1", f"-I{c}", "-I.", SHADOW, "net.o", c / "net_params.c", "-lm",
              "-o", "watch"], self.folder)

    def watch(self, name, manifest, want):
        self.compile(manifest)
        (self.folder / "in").write_bytes(npy_file.read(INTEGER / f"{name}.input.npy").data)
        loads, stores = map(int, done([self.folder / "watch"], self.folder).split())
        self.assertGreater(min(loads, stores), 1000)
        self.assertEqual((self.folder / "out").read_bytes(), want)

    def test_every_budget(self):
        blocks = shared = plans = 0
        for name in NETWORKS:
            want = self.expected(name)
            for target in ("generic", "cortex-m4"):
                manifest = self.generate(name, "--target", target)
                seen = set()
                while manifest is not None:
                    method, = manifest["methods"]
                    plan = (manifest["arena_bytes"], json.dumps(method["blocks"]))
                    self.assertNotIn(plan, seen)
                    seen.add(plan)
                    with self.subTest(model=name, target=target, bytes=manifest["arena_bytes"]):
                        self.watch(name, manifest, want)
                    plans, blocks = plans + 1, blocks + len(method["blocks"])
                    shared += len(method["shared"])
                    manifest = self.generate(name, "--target", target, "--max-arena-bytes",
                                             str(manifest["arena_bytes"] - 1))
        self.assertGreaterEqual(blocks, 8)
        self.assertGreater(shared, 50)
        print(f"{plans} plans, {shared} results over operands, {blocks} blocks")

    def test_a_wrong_plan_is_seen(self):
        manifest = self.generate("keywords", "--target", "generic")
        one = next(row for row in manifest["methods"][0]["shared"] if row["lead"] > 0)
        # The result begins where the operand does, before bytes that are still read.
        c = self.folder / "c/net.c"
        place = int(one["place"].split()[-1])
        text, count = re.subn(r"(\n  [^;]*\(int8_t \*\)\(void \*\)\(arena \+ )%d\)" %
                              (place - one["lead"]), r"\g<1>%d)" % place, c.read_text())
        self.assertGreater(count, 0)
        c.write_text(text)
        self.compile(manifest)
        (self.folder / "in").write_bytes(npy_file.read(INTEGER / "keywords.input.npy").data)
        run = subprocess.run([self.folder / "watch"], cwd=self.folder, capture_output=True,
                             text=True, check=False)
        self.assertEqual(run.returncode, 20, run.stderr)
        self.assertIn("written over", run.stderr)


if __name__ == "__main__":
    unittest.main()
