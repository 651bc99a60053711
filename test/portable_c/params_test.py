# SPDX-License-Identifier: Apache-2.0
"""Parameters that are linked, in pools, loaded by a hook or set by the application: bit for bit
what the interpreter computes with them, and what is refused."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import arrays
import npy_file
import package
from command import ONE_LEVEL, PETREL, done

LAYERS = pathlib.Path("test/models/layers").absolute()
STATE = pathlib.Path("test/models/state").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()

FLASH = ("--pool", "name=flash,kind=ro,section=.flash")
RAM = ("--pool", "name=wram,align=64", "--pool", "sram=unlimited")

# Runs the model on stdin, several times; `set` says where parameters are.
APP = """#include "kws.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{hook}
static unsigned char *read_all(const char *path, size_t bytes) {{
  unsigned char *data = aligned_alloc(64, (bytes + 64) / 64 * 64);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fread(data, 1, bytes, file) != bytes) exit(90);
  fclose(file);
  return data;
}}
int main(void) {{
  static float scores[KWS_OUTPUT_LINEAR_ELEMENTS];
  struct kws_context context;
  struct kws_pools pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
{memory}
  inputs.image = (const float *)(const void *)read_all("image", KWS_INPUT_IMAGE_BYTES);
  outputs.linear = scores;
  for (int round = 0; round < 2; ++round) {{
    if (kws_init(&context, &pools) != KWS_OK) return 91;
{set}
    for (int i = 0; i < 2; ++i) {{
      memset(scores, 0, sizeof scores);
      const int32_t status = kws_run(&context, &inputs, &outputs);
      if (status != KWS_OK) return 128 + status;
      fwrite(scores, 1, sizeof scores, stdout);
    }}
  }}
  return 0;
}}
"""

# Undoes what the test did to the bytes, and tells which it was asked for.
HOOK = """int32_t kws_on_param_load(uint32_t id, void *room, size_t bytes, const void **data) {
  static const struct { uint32_t id; long at; } places[] = {%s};
  fprintf(stderr, "%%u %%u %%d\\n", (unsigned)id, (unsigned)bytes, (int)((uintptr_t)room %% 64));
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    FILE *file = fopen("scrambled", "rb");
    if (places[i].id == id && fseek(file, places[i].at, SEEK_SET) == 0 &&
        fread(room, 1, bytes, file) == bytes) {
      for (size_t b = 0; b < bytes; ++b) ((unsigned char *)room)[b] ^= 0x5a;
      *data = room;
      fclose(file);
      return KWS_OK;
    }
    fclose(file);
  }
  return KWS_E_NOT_FOUND;
}
"""

FAILING = """int32_t kws_on_param_load(uint32_t id, void *room, size_t bytes, const void **data) {
  (void)id, (void)room, (void)bytes;
  %s
}
"""

ERRORS = """#include "kws.h"
static unsigned char memory[KWS_ARENA_BYTES + KWS_ARENA_ALIGN];
static const float image[KWS_INPUT_IMAGE_ELEMENTS] = {0};
static const double room[KWS_PARAM_%(name)s_BYTES / sizeof(double) + 2] = {0};
int main(void) {
  float scores[KWS_OUTPUT_LINEAR_ELEMENTS];
  struct kws_context context;
  struct kws_pools pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  const void *data;
  size_t bytes;
  unsigned char *arena = memory;
  while ((uintptr_t)arena %% KWS_ARENA_ALIGN != 0) ++arena;
  pools.arena = arena;
  pools.arena_bytes = KWS_ARENA_BYTES;
  inputs.image = image;
  outputs.linear = scores;
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_NULL) return 2;
  if (kws_set_param(&context, KWS_PARAM_%(name)s_ID, room, KWS_PARAM_%(name)s_BYTES - 1u) !=
      KWS_E_SIZE) return 3;
  if (kws_set_param(&context, KWS_PARAM_%(name)s_ID, (const char *)room + 1,
                    KWS_PARAM_%(name)s_BYTES) != KWS_E_ALIGN) return 4;
  if (kws_set_param(&context, KWS_PARAM_%(name)s_ID, NULL, KWS_PARAM_%(name)s_BYTES) !=
      KWS_E_NULL) return 5;
  if (kws_set_param(NULL, KWS_PARAM_%(name)s_ID, room, KWS_PARAM_%(name)s_BYTES) != KWS_E_NULL) {
    return 6;
  }
  if (kws_set_param(&context, 1u, room, sizeof room) != KWS_E_NOT_FOUND) return 7;
  if (kws_set_param(&context, KWS_PARAM_%(name)s_ID, room, KWS_PARAM_%(name)s_BYTES) != KWS_OK) {
    return 8;
  }
  if (kws_run(&context, &inputs, &outputs) != KWS_E_NULL) return 9;
  if (kws_lookup_linked_param(KWS_PARAM_%(name)s_ID, &data, &bytes) != KWS_E_NOT_FOUND) return 10;
  return 0;
}
"""


class ParamsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])
        self.expected = expected[0].data * 4  # APP runs it four times

    def make(self, *words, folder, model=DIGITS, more=package.UNOPTIMISED):
        (self.folder / folder).mkdir()
        return package.Package(self.folder / folder, "kws", [("forward", model)], words=words,
                               more=more)

    def app(self, built, hook="", flags=()):
        """The process that has run APP."""
        rows = [r for r in built.manifest["parameters"] if r["kind"] == "external"]
        data = '    unsigned char *file = read_all("c/kws_params.bin", %d);\n'
        end = max([r["file_offset"] + r["bytes"] for r in rows], default=0)
        calls = "".join(f'    if (kws_set_param(&context, {r["id"]}u, file + {r["file_offset"]}, '
                        f'{r["bytes"]}) != KWS_OK) return 92;\n' for r in rows)
        memory = "\n".join(
            package.MEMORY.format(member=member, cast=f"({cast})" if cast else "", bytes=size,
                                  align=align, rounded=max(-(-size // align) * align, align))
            for member, cast, size, align in built.memories())
        (built.folder / "image").write_bytes(npy_file.read(DIGIT).data)
        (built.folder / "params_app.c").write_text(
            APP.format(hook=hook, memory=memory, set=data % end + calls if rows else ""))
        done(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Ic", *flags, "params_app.c",
              "kws.o", "kws_params.o", "-lm", "-o", "params_app"], built.folder)
        return subprocess.run(["./params_app"], cwd=built.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})

    def check_same(self, built, hook=""):
        ran = self.app(built, hook)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout, self.expected)
        return ran.stderr.decode()

    def kinds(self, built):
        return {r["name"]: r["kind"] for r in built.manifest["parameters"]}

    def test_results_are_the_same_wherever_parameters_are(self):
        names = set()
        for folder, words, kinds in (
                ("linked", (), {"linked"}),
                ("pool", (*FLASH, "--params", "pool"), {"pooled"}),
                ("external", ("--params", "external"), {"external"}),
                ("external_io", ("--params", "external", "--io", "caller"), {"external"}),
                ("external_incbin", ("--params", "external", "--constants", "incbin",
                                     "--link-param", "*bias*=linked"), {"external", "linked"}),
                ("loaded", (*RAM, "--link-param", "*=wram"), {"loaded"}),
                ("loaded_incbin", (*RAM, "--link-param", "*=wram", "--constants", "incbin"),
                 {"loaded"}),
                ("mixed", (*RAM, *FLASH, "--link-param", "*bias*=external", "--link-param",
                           "stem*=wram", "--params", "pool"), {"external", "loaded", "pooled"})):
            with self.subTest(folder=folder):
                built = self.make(*words, folder=folder)
                self.check_same(built)
                self.assertEqual(set(self.kinds(built).values()), kinds)
                names.add(tuple(sorted((r["name"], r["id"], r["bytes"], r["sha256"])
                                       for r in built.manifest["parameters"])))
        self.assertEqual(len(names), 1)

    def test_symbols_are_those_of_linked_parameters_only(self):
        built = self.make("--params", "external", "--link-param", "*bias*=linked", folder="some")
        listed = done(["nm", "kws_params.o"], built.folder)
        linked = {r["symbol"] for r in built.manifest["parameters"] if r["kind"] == "linked"}
        self.assertEqual(set(re.findall(r" R (kws_param_\w+)", listed)), linked)
        self.assertTrue(all(r["symbol"] is None for r in built.manifest["parameters"]
                            if r["kind"] == "external"))
        none = self.make("--params", "external", folder="none")
        listed = done(["nm", "kws_params.o"], none.folder)
        self.assertNotIn("kws_param_", listed)
        self.assertIn("T kws_lookup_linked_param", listed)
        self.assertEqual(none.manifest["constant_bytes"], 0)
        self.assertEqual((none.folder / "c/kws_params.bin").stat().st_size,
                         sum(-(-r["bytes"] // 16) * 16 for r in none.manifest["parameters"]))

    def test_hook_is_asked_once_for_each_before_its_first_use(self):
        built = self.make(*RAM, "--params", "external", "--link-param", "*=wram", folder="hook")
        rows = built.manifest["parameters"]
        self.assertEqual({r["kind"] for r in rows}, {"loaded"})
        data = (built.folder / "c/kws_params.bin").read_bytes()
        (built.folder / "scrambled").write_bytes(bytes(b ^ 0x5a for b in data))
        places = ", ".join("{%du, %d}" % (r["id"], r["file_offset"]) for r in rows)
        told = self.check_same(built, HOOK % places).split("\n")[:-1]
        asked = [line.split() for line in told]
        self.assertEqual(len(asked), 2 * len(rows))  # anew after each init
        self.assertEqual(asked[:len(rows)], asked[len(rows):])
        self.assertEqual({(int(i), int(n)) for i, n, _ in asked},
                         {(r["id"], r["bytes"]) for r in rows})
        self.assertEqual({rest for _, _, rest in asked}, {"0"})  # the alignment of the pool
        # In the order in which steps read them, not in that of the files or ids.
        source = (built.folder / "c/kws.c").read_text()
        used = [int(re.search(rf"need_{v}\(.*?load\((\d+)u", source, re.DOTALL).group(1))
                for v in re.findall(r"status = kws_need_(\w+)\(context\)", source)]
        self.assertEqual([int(i) for i, _, _ in asked[:len(rows)]], list(dict.fromkeys(used)))

    def test_what_the_hook_returns_the_run_returns(self):
        built = self.make(*RAM, "--link-param", "*=wram", folder="failing")
        for body, code in (("(void)data; return -77;", 128 - 77),
                           ("*data = NULL; return KWS_OK;", 128 - 1),
                           ("*data = (const char *)room + 1; return KWS_OK;", 128 - 2)):
            ran = self.app(built, FAILING % body)
            self.assertEqual((ran.returncode, ran.stdout), (code, b""), body)

    def test_sanitizers_find_nothing(self):
        built = self.make(*RAM, *FLASH, "--link-param", "*bias*=external", "--link-param",
                          "stem*=wram", "--params", "pool", folder="mixed",
                          more=package.SANITIZED)
        ran = self.app(built, flags=package.SANITIZED)
        self.assertEqual((ran.returncode, ran.stdout), (0, self.expected), ran.stderr)

    def test_what_a_caller_does_wrong_is_a_status(self):
        built = self.make("--params", "external", folder="errors")
        macro = next(re.finditer(r"#define KWS_PARAM_(\w+)_ID", (built.folder / "c/kws.h")
                                 .read_text())).group(1)
        (built.folder / "errors.c").write_text(ERRORS % {"name": macro})
        done(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Ic", "errors.c", "kws.o",
              "kws_params.o", "-lm", "-o", "errors"], built.folder)
        done(["./errors"], built.folder)
        result = subprocess.run(["gcc", "-Ic", "-DKWS_SELFTEST_MAIN", "-c", "c/kws_selftest.c"],
                                cwd=built.folder, stderr=subprocess.PIPE, text=True)
        self.assertIn("parameters are external: call kws_selftest() after", result.stderr)

    def test_layers_and_state_compute_the_same(self):
        for name in ("lstm", "embedding", "writes", "norms"):
            model = LAYERS / f"{name}.pt2"
            inputs = [npy_file.read(f).data for f in sorted(LAYERS.glob(f"{name}.input_*.npy"))]
            (self.folder / name).mkdir()
            expected = arrays.interpreted(
                self.folder / name, model, sorted(LAYERS.glob(f"{name}.input_*.npy")))
            built = self.make(*RAM, "--link-param", "*=wram", folder=f"{name}_loaded", model=model)
            for actual, array in zip(built.run("forward", inputs), expected, strict=True):
                self.assertTrue(arrays.same(actual, array), name)
            built.selftest()
        folder = self.folder / "decoder"
        folder.mkdir()
        decoder = package.Package(folder, "decoder", [
            (m, STATE / f"decoder.{m}.pt2") for m in ("prefill", "decode")],
            words=(*RAM, "--link-param", "*=wram"), more=package.UNOPTIMISED)
        decoder.selftest()
        self.assertEqual({p["name"]: (p["keeps_state"], p["keeps_parameters"])
                          for p in decoder.manifest["pools"]},
                         {"sram": (False, False), "wram": (False, True), "state": (True, False)})
        self.assertEqual({m["name"] for m in decoder.manifest["memories"] if m["is_kept"]},
                         {"wram", "state"})

    def test_manifest_says_what_is_folded_away(self):
        built = self.make(folder="folded")
        folded = {r["name"]: r["bytes"] for r in built.manifest["folded"]}
        # The batch norm behind it is part of the convolution.
        self.assertEqual({n: b for n, b in folded.items() if n.startswith("stem")},
                         {"stem.0.weight": 576, "stem.1.weight": 64, "stem.1.bias": 64,
                          "stem.1.running_mean": 64, "stem.1.running_var": 64})
        self.assertFalse(set(folded) & set(self.kinds(built)))
        self.assertIn("score.bias", self.kinds(built))

    def test_library_loads_its_parameters(self):
        words = [*RAM, "--link-param", "*=wram", "--compile", "so"]
        done([*ONE_LEVEL, PETREL, "gen-c", DIGITS, "-o", "so", "--name", "kws", *words], self.folder)
        done([PETREL, "export", DIGITS, "-o", "d.pte", "--backend", "none"], self.folder)
        self.assertEqual(
            done([PETREL, "run", "--compiled", "so/libkws.so", "--input", DIGIT], self.folder),
            done([PETREL, "run", "d.pte", "--kernels", "reference", "--input", DIGIT],
                 self.folder))

    def test_models_of_a_group_share_no_loaded_parameters(self):
        words = [*RAM, "--link-param", "*=wram"]
        done([PETREL, "gen-c", DIGITS, "-o", "a", "--name", "a", *words], self.folder)
        done([PETREL, "gen-c", DIGITS, "-o", "b", "--name", "b", *words, "--group",
              "a/manifest.json"], self.folder)
        header = (self.folder / "b/b_group.h").read_text()
        self.assertIn("union b_group_sram", header)
        self.assertNotIn("wram", header)

    def test_wrong_words_are_named_all_at_once_and_nothing_is_written(self):
        for words, messages in (
                (["--params", "pool"], ["--params pool: there is no --pool of kind=ro"]),
                (["--params", "shelf"], ["shelf"]),
                (["--params", "external", "--compile", "so"], ["external parameters: what opens"]),
                (["--link-param", "x=external", "--compile", "so"], ["external parameters: what"]),
                (["--pool", "external=1K"], ["--pool: name is 'external', which --link-param"]),
                (["--pool", "state=1K", "--link-param", "x=state"],
                 ["--link-param 'x=state': nothing but state lies in that pool"]),
                (["--pool", "w=1K", "--link-param", "x=w", "--pin", "image=w", "--pin", "y=z",
                  "--io", "caller", "--compile", "so", "--link-param", "x=nowhere"],
                 ["--pin 'image=w': nothing but parameters lies in that pool",
                  "--pin 'y=z': there is no --pool of that name", "--io caller: what opens",
                  "--link-param 'x=nowhere': there is no --pool of that name"])):
            result = subprocess.run([PETREL, "gen-c", DIGITS, "-o", "no", *words], text=True,
                                    cwd=self.folder, stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 2, result.stderr)
            for message in messages:
                self.assertIn(message, result.stderr)
            self.assertFalse((self.folder / "no").exists())
        result = subprocess.run(
            [PETREL, "gen-c", DIGITS, "-o", "no", "--pool", "w=1K", "--link-param", "*=w"],
            text=True, cwd=self.folder, stderr=subprocess.PIPE)
        self.assertRegex(result.stderr, r"pool 'w' has 1024 bytes, its \d+ parameters need \d+, "
                                        r"\d+ more; the largest: ")


if __name__ == "__main__":
    unittest.main()
