# SPDX-License-Identifier: Apache-2.0
"""Partitions of backends in generated C: by a driver that gets payload and blobs as symbols, or as
C that the backend writes, bit for bit what kernels compute; devices that are not there are
statuses; memories that a device does not reach are refused."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import npy_file
import package
from command import done

NPU = pathlib.Path("examples/null_npu").absolute()
PETREL = NPU / "petrel"
package.PETREL = PETREL  # the command with this backend
NET, ALL = NPU / "net.pt2", NPU / "all.pt2"
NPU_WORDS = ("--backend", "null_npu", "--partition", "supported")
SANITIZED = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

# Memory of the arena is the device's, too.
APP = """#include "kws.h"
#include "npu_driver.h"
#include <stdio.h>
#include <string.h>
static uint64_t arena[KWS_ARENA_BYTES / 8 + KWS_ARENA_ALIGN / 8];
int main(void) {
  static float x[KWS_INPUT_X_ELEMENTS], y[KWS_OUTPUT_%(out)s_ELEMENTS], sram[64];
  unsigned char *memory = (unsigned char *)arena;
  struct null_npu_device npu = {0};
  struct kws_context context;
  struct kws_pools pools;
  struct kws_devices devices;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  while ((uintptr_t)memory %% KWS_ARENA_ALIGN != 0) ++memory;
  npu.shared = npu.seen = memory;
  npu.shared_bytes = KWS_ARENA_BYTES;
  npu.sram = sram;
  npu.sram_floats = 64;
  pools.arena = memory;
  pools.arena_bytes = KWS_ARENA_BYTES;
  devices.null_npu = NULL;
  inputs.x = x;
  outputs.%(name)s = y;
  if (fread(x, 1, sizeof x, stdin) != sizeof x) return 1;
  if (kws_open(&context, NULL) != KWS_E_NULL || kws_open(NULL, &devices) != KWS_E_NULL) return 2;
  if (kws_init(&context, &pools) != KWS_OK) return 3;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_DEVICE) return 4;
  if (kws_open(&context, &devices) != KWS_E_DEVICE) return 5;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_DEVICE) return 6;
  devices.null_npu = &npu;
  npu.sram_floats = 2; /* fewer than a partition has values */
  if (kws_open(&context, &devices) != KWS_E_DEVICE) return 7;
  npu.sram_floats = 64;
  for (int i = 0; i < 2; ++i) { /* the second time closes the first */
    if (kws_open(&context, &devices) != KWS_OK) return 8;
    memset(y, 0x5a, sizeof y);
    if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 9;
  }
  fwrite(y, 1, sizeof y, stdout);
  kws_close(&context);
  kws_close(&context);
  kws_close(NULL);
  if (kws_run(&context, &inputs, &outputs) != KWS_E_DEVICE) return 10;
  return npu.runs == %(runs)d ? 0 : 11;
}
"""


class DelegatesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.x = npy_file.read(NPU / "net.input.npy").data

    def make(self, *words, model=NET, folder="npu"):
        (self.folder / folder).mkdir()
        return package.Package(self.folder / folder, "kws", [("forward", model)], words=words,
                               more=package.UNOPTIMISED)

    def refused(self, *words, code=1):
        ran = subprocess.run([PETREL, "gen-c", NET, "-o", "no", "--name", "kws", *words],
                             cwd=self.folder, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.assertEqual(ran.returncode, code, ran.stderr)
        self.assertFalse((self.folder / "no").exists())
        return ran.stderr

    def driven(self, built, x, flags=SANITIZED):
        """What the net computes with the driver."""
        outputs = built.manifest["methods"][0]["outputs"]
        name = outputs[0]["c_name"]
        text = APP % {"out": name.upper(), "name": name,
                      "runs": 2 * len(built.manifest["delegates"])}
        (built.folder / "npu_app.c").write_text(text)
        done(["gcc", "-std=c99", *package.WARNINGS, *flags, "-ffp-contract=off", "-Ic", "-c",
              "c/kws.c", "c/kws_params.c" if (built.folder / "c/kws_params.c").exists()
              else "c/kws_params.S"], built.folder)
        done(["gcc", "-std=c99", *flags, "-Ic", f"-I{NPU}", "npu_app.c", NPU / "npu_driver.c",
              "kws.o", "kws_params.o", "-lm", "-o", "npu_app"], built.folder)
        ran = subprocess.run(["./npu_app"], cwd=built.folder, input=x, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def test_driver_gets_payload_and_blobs_and_computes_what_kernels_do(self):
        expected = self.make(folder="kernels").run("forward", [self.x])[0]
        for form in ("text", "incbin"):
            built = self.make(*NPU_WORDS, "--constants", form, folder=form)
            self.assertEqual(self.driven(built, self.x), expected)
            manifest = built.manifest
            self.assertEqual([(d["backend"], d["target"], d["driver"]) for d in
                              manifest["delegates"]], 2 * [("NullNpu", "npu", "null_npu")])
            rows = {p["name"]: p for p in manifest["parameters"] if p["kind"] == "delegate"}
            self.assertEqual({n: (p["targets"], p["sources"]) for n, p in rows.items()}, {
                "forward.null_npu_0": (["npu"], []), "forward.null_npu_1": (["npu"], []),
                "gain@null_npu": (["npu"], ["gain"]), "offset@null_npu": (["npu"], ["offset"]),
                "back@null_npu": (["npu"], ["back"])})
            # What the processor reads is not the device's, and the other way round.
            others = {p["name"]: p["targets"] for p in manifest["parameters"]
                      if p["kind"] == "linked"}
            self.assertTrue(others)
            self.assertEqual(set(map(tuple, others.values())), {("c",)})
            symbols = done(["nm", "-S", "kws_params.o"], built.folder)
            for row in rows.values():
                self.assertRegex(symbols, rf"(\w+) 0*{row['bytes']:x} R {row['symbol']}\n")

    def test_backend_writes_c_that_needs_no_driver(self):
        expected = self.make(folder="kernels").run("forward", [self.x])[0]
        words = [*NPU_WORDS, "--compile-spec", "form=c", "--compile", "so"]
        built = self.make(*words)
        self.assertEqual([d["driver"] for d in built.manifest["delegates"]], [None, None])
        built.selftest()
        for compiled in (PETREL, pathlib.Path("extension/cli/petrel").absolute()):
            done([compiled, "run", "--compiled", "c/libkws.so", "--input", NPU / "net.input.npy",
                  "--output-dir", "out"], built.folder)
            self.assertEqual(npy_file.read(built.folder / "out/output_0.npy").data, expected)
        symbols = done(["nm", "kws.o"], built.folder)
        self.assertNotIn("null_npu_init", symbols)

    def test_compiled_module_without_its_device_is_an_error(self):
        built = self.make(*NPU_WORDS, "--compile", "so")
        ran = subprocess.run([PETREL, "run", "--compiled", "c/libkws.so", "--input",
                              NPU / "net.input.npy"], cwd=built.folder, text=True,
                             stderr=subprocess.PIPE)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("model 'kws' runs on devices that are not there, of null_npu: status -9",
                      ran.stderr)
        self.assertEqual(subprocess.run([built.program("selftest")]).returncode, 3)

    def test_lookup_is_there_where_all_is_delegated(self):
        built = self.make("--backend", "null_npu", "--whole-methods", model=ALL)
        self.assertEqual({p["kind"] for p in built.manifest["parameters"]}, {"delegate"})
        self.assertEqual(built.manifest["operators"], [])
        row = next(p for p in built.manifest["parameters"] if p["sources"] == ["gain"])
        (built.folder / "lookup.c").write_text(
            '#include "kws.h"\n#include <stdio.h>\nint main(void) {\n  const void *data;\n'
            f'  size_t bytes;\n  if (kws_lookup_linked_param({row["id"]}u, &data, &bytes) != KWS_OK'
            ') return 1;\n  if ((uintptr_t)data % 64 != 0) return 2;\n'
            '  fwrite(data, 1, bytes, stdout);\n  return 0;\n}\n')
        done(["gcc", "-Ic", "lookup.c", "kws_params.o", "-o", "lookup"], built.folder)
        data = subprocess.run(["./lookup"], cwd=built.folder, stdout=subprocess.PIPE, check=True)
        self.assertEqual(hashlib.sha256(data.stdout).hexdigest(), row["sha256"])
        x = npy_file.read(NPU / "all.input.npy").data
        expected = self.make(model=ALL, folder="kernels").run("forward", [x])[0]
        self.assertEqual(self.driven(built, x), expected)

    def test_values_lie_in_memory_that_all_who_use_them_reach(self):
        built = self.make(*NPU_WORDS, "--pool", "name=tcm,targets=c", "--pool",
                          "name=shared,targets=c,npu", "--pool", "name=alone,targets=npu", "--pin",
                          "x=tcm")
        pools = {p["name"]: p for p in built.manifest["pools"]}
        self.assertEqual((pools["alone"]["bytes"], pools["alone"]["targets"]), (0, ["npu"]))
        self.assertGreater(min(pools["tcm"]["bytes"], pools["shared"]["bytes"]), 0)
        source = (built.folder / "c/kws.c").read_text()
        bodies = re.findall(r"kws_op\d+_null_npu\(([^)]*)\) \{\n(.*?)\n\}", source, re.DOTALL)
        self.assertEqual(len(bodies), 2)
        for arguments, body in bodies:
            self.assertEqual(arguments, "unsigned char *pool_shared, void *handle")
            self.assertNotIn("pool_tcm", body)

    def test_memory_that_a_device_does_not_reach_is_refused_by_name(self):
        told = self.refused(*NPU_WORDS, "--pool", "name=tcm,targets=c")
        self.assertRegex(told, r"'\w+' is read and written by c, npu, and no pool that it may lie "
                               r"in is reached by all of them: 'tcm' is reached by c")
        shared = ("--pool", "name=shared,targets=c,npu", "--pool", "name=tcm,targets=c")
        told = self.refused(*NPU_WORDS, *shared, "--pin", "softmax=tcm")
        self.assertIn("'softmax' is read and written by c, npu", told)
        self.assertNotIn("'shared'", told)
        flash = ("--pool", "name=flash,kind=ro,targets=c", "--pool", "name=shared")
        self.assertIn("--link-param: parameter 'gain@null_npu': npu reads it and does not reach "
                      "pool 'flash'",
                      self.refused(*NPU_WORDS, *flash, "--link-param", "gain*=flash"))
        narrow = ("--pool", "name=flash,kind=ro", "--pool", "name=shared")
        self.assertIn("it is aligned to 64 bytes, pool 'flash' to 16",
                      self.refused(*NPU_WORDS, *narrow, "--link-param", "gain*=flash"))
        self.assertIn("drivers read it where it is linked",
                      self.refused(*NPU_WORDS, "--link-param", "*null_npu*=external"))

    def test_constants_of_devices_go_to_pools_that_they_reach(self):
        built = self.make(*NPU_WORDS, "--params", "pool", "--pool", "name=own,kind=ro,targets=c",
                          "--pool", "name=both,kind=ro,align=64,targets=c,npu", "--pool", "sram=1M")
        pools = {p["name"]: p["pool"] for p in built.manifest["parameters"]}
        self.assertEqual({n for n, pool in pools.items() if pool == "both"},
                         {n for n in pools if "null_npu" in n})
        self.assertEqual(set(pools.values()), {"own", "both"})

    def test_what_cannot_be_is_said_before_anything_is_written(self):
        cached = ("--pool", "name=s,cached=yes")
        self.assertIn("cached: what opens a shared library has no functions for caches",
                      self.refused(*NPU_WORDS, *cached, "--compile", "so", code=2))
        self.assertIn("cached is 'maybe', must be yes or no",
                      self.refused("--pool", "name=s,cached=maybe", code=2))
        self.assertIn("must be form: c or payload",
                      self.refused(*NPU_WORDS, "--compile-spec", "form=silicon"))
        self.assertIn("--backend is 'gpu'", self.refused("--backend", "gpu", code=2))
        self.assertIn("cannot take the whole method", self.refused("--backend", "null_npu",
                                                                   "--whole-methods"))

    def test_a_board_asks_for_flushes_and_prefetches(self):
        for needs in (False, True):
            with self.subTest(needs_flush=needs):
                board = self.folder / f"board_{needs}.json"
                board.write_text(json.dumps({
                    "format": 1, "name": "two", "family": "generic", "cores": [{"name": "cpu0"}],
                    "accelerators": [{"name": "npu"}],
                    "memories": [{"name": "flash", "kind": "ro", "address": 0, "size": "1M"},
                                 {"name": "shared", "kind": "rw", "address": "0x20000000",
                                  "size": "1M", "reached_by": ["cpu0", "npu"],
                                  "needs_flush": needs}],
                    "timer": {"name": "t", "width": 32, "hz": 1000000},
                    "toolchain": {"prefix": ""}}))
                done([PETREL, "gen-c", NET, "-o", f"c_{needs}", "--name", "kws", *NPU_WORDS, "--board",
                      board], self.folder)
                manifest = json.loads((self.folder / f"c_{needs}/manifest.json").read_text())
                pool = next(p for p in manifest["pools"] if p["name"] == "shared")
                self.assertEqual(pool.get("cached", False), needs)
                source = (self.folder / f"c_{needs}/kws.c").read_text()
                for hook in ("kws_on_flush(", "kws_on_prefetch("):
                    self.assertEqual(hook in source, needs, hook)

    def test_metadata_has_devices_and_parameters_as_the_manifest_does(self):
        built = self.make(*NPU_WORDS)
        built.compiled("kws_metadata.c")
        (built.folder / "tell.c").write_text(TELL)
        done(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Ic", "tell.c", "kws_metadata.o",
              "kws.o", "kws_params.o", "-lm", "-o", "tell"], built.folder)
        told = json.loads(done(["./tell"], built.folder))
        self.assertEqual(told["devices"], ["null_npu"])
        kinds = {"linked": 0, "pooled": 1, "loaded": 2, "external": 3, "delegate": 4}
        self.assertEqual(told["params"], [
            [p["name"], p["id"], kinds[p["kind"]], p["bytes"], p["shape"], p["sha256"],
             ",".join(p["targets"]), True] for p in built.manifest["parameters"]])


TELL = """#include "petrel_model.h"
#include "kws.h"
#include <stdio.h>
#include <string.h>
int main(void) {
  const struct petrel_model_metadata *model = kws_get_model_metadata();
  void *none[1] = {NULL};
  struct kws_context context;
  memset(&context, 0, sizeof context);
  if (model->open(NULL, none) != KWS_E_NULL || model->open(&context, NULL) != KWS_E_NULL) return 1;
  model->close(&context);
  printf("{\\"devices\\": [");
  for (uint32_t i = 0; i < model->num_devices; ++i) printf("\\"%s\\"", model->devices[i].name);
  printf("], \\"params\\": [");
  for (uint32_t i = 0; i < model->num_params; ++i) {
    const struct petrel_param_info *p = &model->params[i];
    const void *data = NULL;
    size_t bytes = 0;
    const int32_t found = kws_lookup_linked_param(p->id, &data, &bytes);
    printf("%s[\\"%s\\", %u, %d, %u, [", i > 0 ? ", " : "", p->name, (unsigned)p->id,
           (int)p->kind, (unsigned)p->bytes);
    for (uint32_t d = 0; d < p->rank; ++d) printf("%s%d", d > 0 ? ", " : "", (int)p->sizes[d]);
    printf("], \\"%s\\", \\"%s\\", %s]", p->sha256, p->targets,
           found == KWS_OK && data == p->data && bytes == p->bytes &&
                   petrel_find_param(model, p->name) == p ? "true" : "false");
  }
  printf("]}\\n");
  return 0;
}
"""

if __name__ == "__main__":
    unittest.main()
