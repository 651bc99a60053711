# SPDX-License-Identifier: Apache-2.0
"""torch.cond, while_loop, map and scan in C: branches and rounds compute bit for bit what the
interpreter does and what eager torch does, one inside another too; run_step() passes over the branch
that is not taken, and goes back for the next round."""

import math
import os
import pathlib
import re
import tempfile
import unittest

import arrays
import npy_file
import package
from command import done

VARYING = pathlib.Path("test/models/varying").absolute()

# Of the metadata alone; memory is of exactly the sizes that it tells, and holds anything.
ANY_ORDER = """#include "petrel_model.h"
#include "kws_plan.h"
#include <stdlib.h>
#include <string.h>

const struct petrel_model_metadata *kws_get_model_metadata(void);

static void *anything(size_t bytes) {
  void *const memory = malloc(bytes);
  memset(memory, 0xa5, bytes);
  return memory;
}

int main(int argc, char **argv) {
  const struct petrel_model_metadata *const model = kws_get_model_metadata();
  const struct petrel_method_plan *const plan = &kws_get_plan()->methods[0];
  const struct petrel_method_info *const method = &model->methods[0];
  void *const context = anything(model->context_bytes);
  void *pools[4], *outputs[8];
  size_t pool_bytes[4];
  const void *inputs[8];
  uint32_t next = 0, i, state = 1;
  if (argc != 2 || (uint32_t)atoi(argv[1]) != plan->num_steps) return 1;
  for (i = 0; i < model->num_pools; ++i) {
    pool_bytes[i] = model->pools[i].bytes;
    pools[i] = anything(pool_bytes[i]);
  }
  for (i = 0; i < method->num_inputs; ++i) inputs[i] = anything(method->inputs[i].bytes);
  for (i = 0; i < method->num_outputs; ++i) outputs[i] = anything(method->outputs[i].bytes);
  if (model->init(context, pools, pool_bytes) != PETREL_MODEL_OK) return 2;
  if (plan->run_step(context, inputs, outputs, &next) != PETREL_MODEL_OK || next != 1) return 3;
  for (i = 0; i < 20000; ++i) {
    state = state * 1664525u + 1013904223u;
    next = 1u + (state >> 16) % (plan->num_steps - 1u);
    (void)plan->run_step(context, inputs, outputs, &next);
  }
  for (i = 0; i < model->num_pools; ++i) free(pools[i]);
  for (i = 0; i < method->num_inputs; ++i) free((void *)(uintptr_t)inputs[i]);
  for (i = 0; i < method->num_outputs; ++i) free(outputs[i]);
  free(context);
  return 0;
}
"""


class BranchesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def files(self, name, call, role):
        return sorted(VARYING.glob(f"{name}.call_{call}.{role}_*.npy"))

    def check(self, name, number_of_calls, *words):
        built = package.Package(self.folder / "c", "kws", [("forward", VARYING / f"{name}.pt2")],
                                words=words)
        varies = ["least_shape" in row for row in built.manifest["methods"][0]["inputs"]]
        for call in range(number_of_calls):
            inputs = self.files(name, call, "input")
            given = [npy_file.read(f) for f in inputs]
            given = [a if v else a.data for a, v in zip(given, varies, strict=True)]
            actual = built.run("forward", given)
            self.assertEqual(built.run("forward!", given), actual)
            folder = self.folder / str(call)
            folder.mkdir()
            expected = arrays.interpreted(folder, VARYING / f"{name}.pt2", inputs)
            eager = [npy_file.read(f) for f in self.files(name, call, "output")]
            self.assertEqual(len(actual), len(eager))
            for i, (a, e, t) in enumerate(zip(actual, expected, eager, strict=True)):
                self.assertTrue(arrays.same(a, e), f"call {call}, output {i}")
                numbers = npy_file.elements(npy_file.Array(t.dtype, t.shape, a))
                for x, y in zip(numbers, npy_file.elements(t), strict=True):
                    self.assertTrue(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-6), (call, i, x, y))
        built.selftest()
        return built

    def test_both_branches_compute_what_the_interpreter_does(self):
        (self.folder / "c").mkdir()
        self.check("cond", 2)
        source = (self.folder / "c/c/kws.c").read_text()
        jumps = re.findall(r"\*next = (\d+)u;", source)
        self.assertEqual(len(jumps), 2)
        self.assertLess(int(jumps[0]), int(jumps[1]) + 1)

    def test_branches_lie_inside_branches(self):
        (self.folder / "c").mkdir()
        self.check("cond_nested", 3)

    def test_sizes_and_numbers_decide(self):
        for name, calls in (("cond_sizes", 4), ("cond_numbers", 4)):
            for words in ((), ("--io", "caller", "--interface", "direct")):
                with self.subTest(program=name, words=words):
                    self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
                    (self.folder / "c").mkdir()
                    self.check(name, calls, *words)

    def check_loops(self, *words):
        for name, calls in (("map_rows", 2), ("map_varying", 3), ("scan_rows", 2),
                            ("scan_varying", 3), ("while_bound", 9)):
            with self.subTest(program=name):
                self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
                (self.folder / "c").mkdir()
                self.check(name, calls, *words)

    def test_rounds_compute_what_the_interpreter_does(self):
        self.check_loops()

    def test_loops_work_in_pools_and_with_memory_of_the_caller(self):
        self.check_loops("--io", "caller", "--pool", "name=fast,prefer=64", "--pool",
                         "slow=unlimited")

    def test_loops_read_loaded_parameters(self):
        (self.folder / "c").mkdir()
        self.check("while_bound", 9, "--pool", "weights=4K", "--pool", "sram=4K", "--link-param",
                   "a.*=weights")

    def test_sanitizers_find_nothing_in_rounds(self):
        (self.folder / "c").mkdir()
        built = self.check("scan_varying", 1)
        built.compile(more=package.SANITIZED)
        for call in range(3):
            inputs = [npy_file.read(f) for f in self.files("scan_varying", call, "input")]
            eager = [npy_file.read(f) for f in self.files("scan_varying", call, "output")]
            actual = built.run("forward", [inputs[0].data, inputs[1]])
            self.assertEqual([len(a) for a in actual], [len(e.data) for e in eager])

    # A host may ask a device for any step after the first, as often as it likes.
    def test_steps_in_any_order_stay_in_their_memory(self):
        for name in ("map_rows", "scan_rows", "map_varying", "scan_varying", "while_bound"):
            with self.subTest(program=name):
                folder = self.folder / name
                folder.mkdir()
                built = package.Package(folder, "kws", [("forward", VARYING / f"{name}.pt2")],
                                        words=("--device-rpc",))
                (folder / "steps.c").write_text(ANY_ORDER)
                sources = [f"c/kws{part}.c" for part in ("", "_params", "_metadata", "_plan")]
                done(["gcc", "-std=c11", "-O1", "-fsanitize=address", "-Ic", "steps.c", *sources,
                      "-lm", "-o", "steps"], folder)
                done(["./steps", str(built.manifest["methods"][0]["steps"] + 2)], folder)

    def test_branches_work_in_pools_and_with_memory_of_the_caller(self):
        (self.folder / "c").mkdir()
        self.check("cond_nested", 3, "--io", "caller", "--pool", "name=fast,prefer=64", "--pool",
                   "slow=unlimited")


if __name__ == "__main__":
    unittest.main()
