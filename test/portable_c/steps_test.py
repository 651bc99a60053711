# SPDX-License-Identifier: Apache-2.0
"""run_step(): bit for bit what run() computes, with other contexts between the steps, and a step
that fails is done again."""

import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

import npy_file
import package
from command import done

LAYERS = pathlib.Path("test/models/layers").absolute()
STATE = pathlib.Path("test/models/state").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()

# Two contexts take turns, each begins when the one before has done two steps.
APP = """#include "kws.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {{
  struct kws_context contexts[2];
  struct kws_inputs inputs[2];
  struct kws_outputs outputs[2];
  uint32_t next[2] = {{0, 0}};
  unsigned calls = 0;
  for (int i = 0; i < 2; ++i) {{
    struct kws_pools pools;
{memory}
    if (kws_init(&contexts[i], &pools) != KWS_OK) return 1;
{inputs}
{outputs}
  }}
  for (int round = 0; next[0] < KWS_STEPS || next[1] < KWS_STEPS; ++round) {{
    for (int i = 0; i < 2; ++i) {{
      if (next[i] == KWS_STEPS || (i == 1 && round < 2)) continue;
      const uint32_t before = next[i];
      const int32_t status = kws_run_step(&contexts[i], &inputs[i], &outputs[i], &next[i]);
      if (status != KWS_OK) return 128 + status;
      if (next[i] != before + 1u) return 2;
      ++calls;
    }}
  }}
  if (calls != 2u * KWS_STEPS) return 3;
  if (kws_run_step(&contexts[0], &inputs[0], &outputs[0], &next[0]) != KWS_E_NOT_FOUND) return 4;
  if (kws_run_step(&contexts[0], &inputs[0], &outputs[0], NULL) != KWS_E_NULL) return 5;
  for (int i = 0; i < 2; ++i) {{
{write}
  }}
  return 0;
}}
"""

FAILS = """#include "kws.h"
static unsigned char memory[KWS_ARENA_BYTES + KWS_ARENA_ALIGN];
int main(void) {
  struct kws_context context;
  struct kws_pools pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  static int64_t indices[%(count)d] = {-100};
  static float rows[%(elements)d];
  uint32_t next = 0;
  int32_t status = KWS_OK;
  pools.arena = memory + (KWS_ARENA_ALIGN - (uintptr_t)memory %% KWS_ARENA_ALIGN) %% KWS_ARENA_ALIGN;
  pools.arena_bytes = KWS_ARENA_BYTES;
  inputs.%(input)s = indices;
  outputs.%(output)s = rows;
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  while (next < KWS_STEPS && status == KWS_OK) {
    status = kws_run_step(&context, &inputs, &outputs, &next);
  }
  if (status != KWS_E_DATA) return 2;
  const uint32_t failed = next;
  if (kws_run_step(&context, &inputs, &outputs, &next) != KWS_E_DATA || next != failed) return 3;
  return kws_run(&context, &inputs, &outputs) == KWS_E_DATA ? 0 : 4;
}
"""


class StepsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def app(self, built):
        method = built.manifest["methods"][0]
        memory = "\n".join(
            package.MEMORY.format(member=member, cast=f"({cast})" if cast else "", bytes=size,
                                  align=align, rounded=max(-(-size // align) * align, align))
            for member, cast, size, align in built.memories())
        inputs, outputs, write = [], [], []
        for i, t in enumerate(method["inputs"]):
            inputs.append(f'    {{ FILE *file = fopen("in{i}", "rb"); void *data = malloc({t["bytes"]} '
                          f'+ 1u);\n    if (fread(data, 1, {t["bytes"]}, file) != {t["bytes"]}) '
                          f'return 7;\n    fclose(file); inputs[i].{t["c_name"]} = data; }}')
        for i, t in enumerate(method["outputs"]):
            outputs.append(f'    outputs[i].{t["c_name"]} = malloc({t["bytes"]} + 1u);')
            write.append(f'    fwrite(outputs[i].{t["c_name"]}, 1, {t["bytes"]}, stdout);')
        return APP.format(memory=memory, inputs="\n".join(inputs), outputs="\n".join(outputs),
                          write="\n".join(write))

    def test_steps_of_two_contexts_compute_what_runs_do(self):
        for name, words in (("lstm", ()), ("writes", ("--io", "caller")), ("pools", ()),
                            ("norms", ("--pool", "wram=unlimited", "--pool", "sram=unlimited",
                                       "--link-param", "*=wram"))):
            with self.subTest(layer=name):
                folder = self.folder / name
                folder.mkdir()
                built = package.Package(folder, "kws", [("forward", LAYERS / f"{name}.pt2")],
                                        words=words, more=package.UNOPTIMISED)
                inputs = [npy_file.read(f).data for f in sorted(LAYERS.glob(f"{name}.input_*.npy"))]
                expected = b"".join(built.run("forward", inputs))
                for i, data in enumerate(inputs):
                    (folder / f"in{i}").write_bytes(data)
                (folder / "steps.c").write_text(self.app(built))
                done(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-Ic", "steps.c",
                      "kws.o", "kws_params.o", "-lm", "-o", "steps"], folder)
                with open(folder / "out", "wb") as out:
                    ran = subprocess.run(["./steps"], cwd=folder, stdout=out)
                self.assertEqual(ran.returncode, 0)
                self.assertEqual((folder / "out").read_bytes(), expected * 2)
                steps = built.manifest["methods"][0]["steps"]
                self.assertIn(f"#define KWS_STEPS {steps + 2}u\n",
                              (folder / "c/kws.h").read_text())

    def test_step_that_fails_is_not_counted(self):
        built = package.Package(self.folder, "kws", [("forward", LAYERS / "embedding.pt2")],
                                more=package.UNOPTIMISED)
        given, returned = (built.manifest["methods"][0][role][0] for role in ("inputs", "outputs"))
        self.assertEqual(given["dtype"], "i64")
        (self.folder / "fails.c").write_text(FAILS % {
            "count": given["bytes"] // 8, "elements": returned["bytes"] // 4,
            "input": given["c_name"], "output": returned["c_name"]})
        done(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Ic", "fails.c", "kws.o",
              "kws_params.o", "-lm", "-o", "fails"], self.folder)
        done(["./fails"], self.folder)

    def test_each_step_says_its_layer_and_gets_the_pools_that_it_uses(self):
        manifest = package.generate(self.folder, "kws", [("forward", DIGITS)], (
            "--pool", "name=sram,limit=12K", "--pool", "dram=unlimited"))
        source = (self.folder / "c/kws.c").read_text()
        method = manifest["methods"][0]
        steps = re.findall(r"/\* node '(\w+)' \(([\w.]+)\) at (\S+:\d+), in forward\n((?: \*   [^\n]*\n)+)"
                           r" \*/\nstatic \w+ kws_op(\d+)_\w+\(([^)]*)\) \{\n(.*?)\n\}\n", source,
                           re.DOTALL)
        self.assertEqual([int(number) for *_, number, _, _ in steps], list(range(method["steps"])))
        pools = set()
        for node, operator, line, tensors, _, arguments, body in steps:
            self.assertTrue(operator.startswith("aten."), operator)
            self.assertRegex(line, r"train\.py:\d+")
            self.assertRegex(tensors, rf" \*   out {node}: f32\[[\d,]+\]\n")
            given = set(re.findall(r"pool_\w+", arguments))
            self.assertEqual(given, set(re.findall(r"pool_\w+", body)), node)
            pools.add(frozenset(given))
        self.assertIn(frozenset({"pool_sram"}), pools)  # not all of them
        self.assertEqual(frozenset().union(*pools), {"pool_sram", "pool_dram"})

    def test_methods_have_steps_of_their_own_and_share_state(self):
        counter = package.Package(self.folder, "counter",
                                  [(m, STATE / f"counter.{m}.pt2") for m in ("add", "read")],
                                  more=package.UNOPTIMISED)
        header = (self.folder / "c/counter.h").read_text()
        for method in ("add", "read"):
            self.assertIn(f"int32_t counter_{method}_run_step(", header)
        ones = struct.pack("<4f", 1, 1, 1, 1)
        first, second = counter.calls([("add", [ones]), ("add", [ones])])
        self.assertEqual(struct.unpack("<4f", first[0]), (2, 3, 4, 5))
        self.assertEqual(struct.unpack("<4f", second[0]), (3, 4, 5, 6))


if __name__ == "__main__":
    unittest.main()
