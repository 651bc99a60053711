# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs that lie with the caller only, or in the memory of the model; and models
that share their memory."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import arrays
import npy_file
import package
from command import PETREL, done

LAYERS = pathlib.Path("test/models/layers").absolute()
PORTABLE = pathlib.Path("test/models/portable").absolute()
STATE = pathlib.Path("test/models/state").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()

# Two inputs and two outputs, each apart from all others.
OVERLAPS = """#include "kws.h"
static unsigned char memory[KWS_ARENA_BYTES + KWS_ARENA_ALIGN];
int main(void) {
  float x[KWS_INPUT_X_ELEMENTS] = {1}, h[KWS_INPUT_H_ELEMENTS] = {2};
  float both[KWS_OUTPUT_SUM_1_ELEMENTS + KWS_OUTPUT_TANH_ELEMENTS];
  struct kws_context context;
  struct kws_pools pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  pools.arena = memory + (KWS_ARENA_ALIGN - (uintptr_t)memory % KWS_ARENA_ALIGN);
  pools.arena_bytes = KWS_ARENA_BYTES;
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  inputs.x = x;
  inputs.h = h;
  outputs.sum_1 = both;
  outputs.tanh = both + KWS_OUTPUT_SUM_1_ELEMENTS;
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 2;
  outputs.tanh = outputs.sum_1;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_ALIAS) return 3;
  outputs.tanh = h;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_ALIAS) return 4;
  outputs.tanh = both + KWS_OUTPUT_SUM_1_ELEMENTS;
  inputs.h = x;
  return kws_run(&context, &inputs, &outputs) == KWS_OK || sizeof x != sizeof h ? 0 : 5;
}
"""

MAPPED = """#include "kws.h"
#include <stdio.h>
int main(void) {
  const struct kws_pools pools = kws_static_pools();
  struct kws_context context;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  inputs = kws_map_inputs(&context);
  outputs = kws_map_outputs(&context);
  if (inputs.image != kws_input_image(&context)) return 2;
  if (fread(kws_input_image(&context), 1, KWS_INPUT_IMAGE_BYTES, stdin) != KWS_INPUT_IMAGE_BYTES) {
    return 3;
  }
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 4;
  fwrite(outputs.linear, 1, KWS_OUTPUT_LINEAR_BYTES, stdout);
  return 0;
}
"""

PRESERVED = """#include "kws.h"
#include <stdio.h>
#include <string.h>
static unsigned char memory[KWS_ARENA_BYTES + KWS_ARENA_ALIGN];
int main(void) {
  static float image[KWS_INPUT_IMAGE_ELEMENTS], before[KWS_INPUT_IMAGE_ELEMENTS];
  float scores[KWS_OUTPUT_LINEAR_ELEMENTS];
  struct kws_context context;
  struct kws_pools pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  const uintptr_t rest = (uintptr_t)memory % KWS_ARENA_ALIGN;
  pools.arena = memory + (rest == 0 ? 0 : KWS_ARENA_ALIGN - rest);
  pools.arena_bytes = KWS_ARENA_BYTES;
  if (fread(image, 1, sizeof image, stdin) != sizeof image) return 2;
  memcpy(before, image, sizeof image);
  inputs.image = image;
  outputs.linear = scores;
  if (kws_init(&context, &pools) != KWS_OK) return 3;
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 4;
  if (memcmp(before, image, sizeof image) != 0) return 5;
#if !KWS_IO_PRESERVED
  memcpy(kws_input_image(&context), image, sizeof image);
  inputs.image = kws_input_image(&context);
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 6;
  if (memcmp(before, inputs.image, sizeof image) == 0) return 7;
#endif
  return KWS_IO_PRESERVED;
}
"""

# One runs between the steps of the other.
TOGETHER = """#include "kws_group.h"
#include <stdio.h>
int32_t cell_selftest(struct cell_context *context);
static struct kws_group_sram sram;
int main(void) {
  static float image[KWS_INPUT_IMAGE_ELEMENTS], scores[KWS_OUTPUT_LINEAR_ELEMENTS];
  struct kws_context kws;
  struct kws_pools kws_pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  struct cell_context cell;
  struct cell_pools cell_pools;
  if (fread(image, 1, sizeof image, stdin) != sizeof image) return 1;
  kws_pools.sram = &sram.kws;
  kws_pools.sram_bytes = sizeof sram.kws;
  cell_pools.sram = &sram.cell;
  cell_pools.sram_bytes = sizeof sram.cell;
  inputs.image = image;
  outputs.linear = scores;
  if (kws_init(&kws, &kws_pools) != KWS_OK || cell_init(&cell, &cell_pools) != CELL_OK) return 2;
  for (uint32_t next = 0; next < KWS_STEPS;) {
    if (kws_run_step(&kws, &inputs, &outputs, &next) != KWS_OK) return 3;
    if (cell_selftest(&cell) != CELL_OK) return 4;
  }
  fwrite(scores, 1, sizeof scores, stdout);
  printf("%u", (unsigned)KWS_GROUP_SRAM_BYTES);
  return 0;
}
"""

SHARED = """#include "kws_group.h"
#include <stdio.h>
int32_t cell_selftest(struct cell_context *context);
static union kws_group_sram sram;
typedef char is_large_enough[sizeof sram >= KWS_GROUP_SRAM_BYTES ? 1 : -1];
static int run_kws(const float *image, float *scores) {
  struct kws_context context;
  struct kws_pools pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  pools.sram = &sram.kws;
  pools.sram_bytes = sizeof sram;
  inputs.image = image;
  outputs.linear = scores;
  return kws_init(&context, &pools) == KWS_OK && kws_run(&context, &inputs, &outputs) == KWS_OK;
}
static int run_cell(void) {
  struct cell_context context;
  struct cell_pools pools;
  pools.sram = &sram.cell;
  pools.sram_bytes = sizeof sram;
  return cell_init(&context, &pools) == CELL_OK && cell_selftest(&context) == CELL_OK;
}
int main(void) {
  static float image[KWS_INPUT_IMAGE_ELEMENTS], scores[KWS_OUTPUT_LINEAR_ELEMENTS];
  if (fread(image, 1, sizeof image, stdin) != sizeof image) return 1;
  if (!run_cell() || !run_kws(image, scores) || !run_cell() || !run_kws(image, scores)) return 2;
  fwrite(scores, 1, sizeof scores, stdout);
  printf("%u", (unsigned)KWS_GROUP_SRAM_BYTES);
  return 0;
}
"""


class IoTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def make(self, model, *words, name="kws", folder=None, more=package.UNOPTIMISED):
        return package.Package(folder or self.folder, name, [("forward", model)], words=words,
                               more=more)

    def link(self, app, *objects):
        done(["gcc", "-std=c99", *package.WARNINGS, "-Ic", f"{app}.c", "kws.o", "kws_params.o",
              *objects, "-lm", "-o", app], self.folder)

    def test_results_are_the_same_where_callers_have_inputs_and_outputs(self):
        models = [LAYERS / f"{n}.pt2" for n in ("lstm", "pools", "norms", "conv_transposed", "cells",
                                                "attention", "writes", "embedding")]
        models += [PORTABLE / f"{n}.pt2" for n in ("repeated", "bits", "cell")]
        saved = 0
        for model in models:
            inputs = sorted(model.parent.glob(f"{model.stem}.input_*.npy"))
            (self.folder / model.stem).mkdir()
            with self.subTest(model=model.stem):
                # As layers_test compares them with the arena of the model.
                expected = arrays.interpreted(self.folder / model.stem, model, inputs)
                arena = package.generate(self.folder / model.stem, "kws", [("forward", model)])
                built = self.make(model, "--io", "caller", folder=self.folder / model.stem,
                                  more=package.SANITIZED)
                self.assertEqual((arena["io"], built.manifest["io"]), ("arena", "caller"))
                for more in (package.SANITIZED, []):
                    if not more:
                        built.compile()
                    actual = built.run("forward", [npy_file.read(f).data for f in inputs])
                    for a, e in zip(actual, expected, strict=True):
                        self.assertTrue(arrays.same(a, e))
                built.selftest()
                self.assertLessEqual(built.manifest["arena_bytes"], arena["arena_bytes"])
                saved += arena["arena_bytes"] - built.manifest["arena_bytes"]
        self.assertGreater(saved, 1000)

    def test_caller_and_pools_and_cplusplus_agree(self):
        image = npy_file.read(DIGIT).data
        expected = [e.data for e in arrays.interpreted(self.folder, DIGITS, [DIGIT])]
        built = self.make(DIGITS, "--io", "caller", "--pool", "sram=8K", "--pool", "dram=unlimited")
        self.assertEqual(built.run("forward", [image]), expected)
        self.assertNotIn("kws_input_image", done(["nm", "kws.o"], self.folder))
        for source in (self.folder / "c").glob("*.c"):
            done(["g++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-c",
                  source, "-o", "x.o"], self.folder)

    def test_state_and_inputs_of_callers(self):
        counter = package.Package(self.folder, "counter", [
            (m, STATE / f"counter.{m}.pt2") for m in ("add", "read")], words=["--io", "caller"],
            more=package.UNOPTIMISED)
        ones = bytes.fromhex("0000803f") * 4
        calls = [("add", [ones]), ("read", []), ("reset", []), ("read", [])]
        expected = package.Package(self.other("arena"), "counter", [
            (m, STATE / f"counter.{m}.pt2") for m in ("add", "read")],
            more=package.UNOPTIMISED).calls(calls)
        self.assertEqual(counter.calls(calls), expected)
        counter.selftest()

    def other(self, name):
        (self.folder / name).mkdir()
        return self.folder / name

    def test_shared_library_has_places(self):
        result = subprocess.run([PETREL, "gen-c", DIGITS, "-o", "no", "--io", "caller", "--compile",
                                 "so"], cwd=self.folder, text=True, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--io caller: what opens a shared library asks it", result.stderr)

    def test_outputs_of_callers_overlap_nothing(self):
        self.make(PORTABLE / "cell.pt2", "--io", "caller")
        (self.folder / "overlaps.c").write_text(OVERLAPS)
        self.link("overlaps")
        done(["./overlaps"], self.folder)

    def test_channels_are_innermost_at_the_border_of_floats_and_of_what_is_returned_twice(self):
        channels = [[0, 2, 3, 1], [0, 2, 3, 1], [0, 2, 1], [0, 2, 3, 1], [0, 1], [0, 2, 3, 1],
                    [0, 2, 3, 1]]
        for words in ((), ("--io", "caller")):
            with self.subTest(words=words):
                built = self.make(PORTABLE / "images.pt2", "--io-layout", "nhwc", *words)
                method, = built.manifest["methods"]
                orders = [t["dim_order"] for t in (*method["inputs"], *method["outputs"])]
                self.assertEqual(orders, channels)
                built.selftest()

    def test_all_tensors_of_the_arena_are_mapped_at_once(self):
        self.make(DIGITS, "--pool", "name=workspace").compiled("kws_memory.c")
        (self.folder / "mapped.c").write_text(MAPPED)
        self.link("mapped", "kws_memory.o")
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])
        result = subprocess.run(["./mapped"], cwd=self.folder, input=npy_file.read(DIGIT).data,
                                stdout=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stdout), (0, expected[0].data))

    def test_header_says_whether_a_run_keeps_its_inputs(self):
        for io, preserved in (("arena", 0), ("caller", 1)):
            with self.subTest(io):
                self.make(DIGITS, "--io", io)
                (self.folder / "preserved.c").write_text(PRESERVED)
                self.link("preserved")
                result = subprocess.run(["./preserved"], cwd=self.folder,
                                        input=npy_file.read(DIGIT).data, stdout=subprocess.DEVNULL)
                self.assertEqual(result.returncode, preserved)

    def test_two_models_share_the_larger_workspace(self):
        cell = self.make(PORTABLE / "cell.pt2", "--pool", "name=sram,align=64", name="cell",
                         folder=self.other("cell"))
        cell.compiled("cell_selftest.c")
        kws = self.make(DIGITS, "--pool", "sram=unlimited", "--group", "cell/c/manifest.json")
        (self.folder / "shared.c").write_text(SHARED)
        done(["gcc", "-std=c99", *package.WARNINGS, "-Ic", "-Icell/c", "shared.c", "kws.o",
              "kws_params.o", "cell/cell.o", "cell/cell_params.o", "cell/cell_selftest.o", "-lm",
              "-o", "shared"], self.folder)
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])
        result = subprocess.run(["./shared"], cwd=self.folder, input=npy_file.read(DIGIT).data,
                                stdout=subprocess.PIPE)
        larger = max(p["bytes"] for m in (cell, kws) for p in m.manifest["pools"])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, expected[0].data + str(larger).encode())
        done(["g++", "-x", "c++", "-std=c++17", "-Wall", "-Werror", "-Ic", "-Icell/c",
              "-fsyntax-only", "c/kws_group.h"], self.folder)

    def test_two_models_that_are_alive_together_have_a_part_each(self):
        cell = self.make(PORTABLE / "cell.pt2", "--pool", "name=sram,align=64", name="cell",
                         folder=self.other("cell"))
        cell.compiled("cell_selftest.c")
        kws = self.make(DIGITS, "--pool", "sram=unlimited", "--group", "cell/c/manifest.json",
                        "--group-mode", "together")
        (self.folder / "together.c").write_text(TOGETHER)
        done(["gcc", "-std=c99", *package.WARNINGS, "-Ic", "-Icell/c", "together.c", "kws.o",
              "kws_params.o", "cell/cell.o", "cell/cell_params.o", "cell/cell_selftest.o", "-lm",
              "-o", "together"], self.folder)
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])[0].data
        result = subprocess.run(["./together"], cwd=self.folder, input=npy_file.read(DIGIT).data,
                                stdout=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stdout[:len(expected)]), (0, expected))
        both = sum(p["bytes"] for m in (cell, kws) for p in m.manifest["pools"])
        self.assertIn(int(result.stdout[len(expected):]), range(both, both + 64))
        done(["g++", "-x", "c++", "-std=c++17", "-Wall", "-Werror", "-Ic", "-Icell/c",
              "-fsyntax-only", "c/kws_group.h"], self.folder)

    def test_groups_that_cannot_share_are_refused(self):
        manifest = {"name": "cell", "pools": [{"name": "sram", "kind": "rw", "bytes": 64}],
                    "state": []}
        for change, message in (
                ({"pools": []}, "model 'cell' has no pools to share"),
                ({"state": [{}]}, "model 'cell' keeps state where others of its group would write"),
                ({"name": "kws"}, "two models of the group are called 'kws'"),
                ({"name": "KWS"}, "would both begin with KWS_: call one of them"),
                ({"methods": [{"prefix": "cell_a"}, {"prefix": "kws"}]},
                 "names of models 'kws' and 'cell' of the group would both begin with kws_"),
                ({"name": "x;y"}, "the package name is 'x;y'"),
                ({"pools": [{"name": "a;b", "kind": "rw", "bytes": 64}]}, "name is 'a;b', must be"),
                ({"pools": [{"name": "a", "kind": "rw"}]}, "has no name, kind and bytes"),
                ({"pools": 7}, "is not the manifest.json of a package with pools")):
            (self.folder / "m.json").write_text(json.dumps({**manifest, **change}))
            self.assertIn(message, self.refused("--pool", "sram=1M", "--group", "m.json"))
        for text in ("", "[", "[]", "\udcff"):
            (self.folder / "m.json").write_text(text, errors="surrogateescape")
            self.assertRegex(self.refused("--pool", "sram=1M", "--group", "m.json"),
                             "--group m.json: .*is not (JSON|valid UTF-8|the manifest.json)")
        (self.folder / "m.json").write_text(json.dumps(manifest))
        self.assertIn("model 'kws' has no pools to share", self.refused("--group", "m.json"))
        self.assertIn("--group-mode together: there is no --group",
                      self.refused("--group-mode", "together"))
        self.assertIn("gone.json", self.refused("--pool", "sram=1M", "--group", "gone.json"))

    def refused(self, *words):
        result = subprocess.run([PETREL, "gen-c", DIGITS, "-o", "no", "--name", "kws", *words],
                                cwd=self.folder, text=True, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertFalse((self.folder / "no").exists())
        return result.stderr


if __name__ == "__main__":
    unittest.main()
