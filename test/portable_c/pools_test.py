# SPDX-License-Identifier: Apache-2.0
"""Models in several memories: bit for bit what they compute in one, each memory in its section
and at its address, of a type of its own; and what is refused."""

import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

import arrays
import npy_file
import package
from command import PETREL, done

LAYERS = pathlib.Path("test/models/layers").absolute()
STATE = pathlib.Path("test/models/state").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()

APP = """#include "kws.h"
#include <stdio.h>
int32_t kws_selftest(struct kws_context *context);
int main(void) {
  static const float image[KWS_INPUT_IMAGE_ELEMENTS] = {0};
  float scores[KWS_OUTPUT_LINEAR_ELEMENTS];
  struct kws_context context;
  const struct kws_pools pools = kws_static_pools();
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  inputs.image = image;
  outputs.linear = scores;
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 2;
  printf("%p\\n", (void *)pools.sram);
  return kws_selftest(&context) == KWS_OK ? 0 : 3;
}
"""

ERRORS = """#include "kws.h"
static struct kws_pool_sram sram;
static struct kws_pool_dram dram;
int main(void) {
  struct kws_context context;
  struct kws_pools pools = {&sram, sizeof sram, &dram, sizeof dram};
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  pools.dram_bytes = KWS_POOL_DRAM_BYTES - 1u;
  if (kws_init(&context, &pools) != KWS_E_SIZE) return 2;
  pools.dram_bytes = sizeof dram;
  pools.sram = NULL;
  if (kws_init(&context, &pools) != KWS_E_NULL) return 3;
  pools.sram = (struct kws_pool_sram *)(void *)(sram.bytes + 8);
  if (kws_init(&context, &pools) != KWS_E_ALIGN) return 4;
  return sizeof sram == KWS_POOL_SRAM_BYTES && KWS_POOL_SRAM_ALIGN == 64u ? 0 : 5;
}
"""

SWAPPED = """#include "kws.h"
static struct kws_pool_sram sram;
static struct kws_pool_dram dram;
struct kws_pools pools_of_app(void);
struct kws_pools pools_of_app(void) {
  struct kws_pools pools;
  pools.sram = &%s;
  pools.sram_bytes = sizeof sram;
  pools.dram = &%s;
  pools.dram_bytes = sizeof dram;
  return pools;
}
"""

# Puts all into the slow pool, one behind the other or, with 0, all at its begin.
PLANNER = """
import json, sys
at, out = 0, []
for b in json.load(sys.stdin)["buffers"]:
    assert b["pools"] == ["fast", "slow"] and b["lower"] < b["upper"] and b["alignment"] >= 16, b
    out.append({"id": b["id"], "pool": "slow", "offset": at})
    at += int(sys.argv[1]) * (b["size"] + 63) // 64 * 64
json.dump({"buffers": out}, sys.stdout)
"""


def words(option, *values):
    return [w for value in values for w in (option, value)]


class PoolsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def make(self, *more, model=DIGITS, folder=None, flags=package.UNOPTIMISED):
        return package.Package(folder or self.folder, "kws", [("forward", model)], words=more,
                               more=flags)

    def refused(self, *more, code=1):
        result = subprocess.run([PETREL, "gen-c", DIGITS, "-o", "no", "--name", "kws", *more],
                                cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertFalse((self.folder / "no").exists())
        return result.stderr

    def bytes_of(self, built):
        return {p["name"]: p["bytes"] for p in built.manifest["pools"]}

    def test_results_are_those_of_one_arena(self):
        models = ("lstm", "pools", "norms", "conv_transposed", "embedding", "writes", "resize")
        for name in models:
            model = LAYERS / f"{name}.pt2"
            files = sorted(LAYERS.glob(f"{name}.input_*.npy"))
            inputs = [npy_file.read(f).data for f in files]
            (self.folder / name / "one").mkdir(parents=True)
            expected = arrays.interpreted(self.folder / name, model, files)
            arena = package.generate(self.folder / name / "one", "kws",
                                     [("forward", model)])["arena_bytes"]
            for i, pools in enumerate((
                    [f"name=sram,limit={arena // 2},align=64", "dram=unlimited"],
                    [f"name=sram,prefer={arena // 3}", "name=dram,align=32"],
                    ["name=only,align=128"],
                    [f"a={arena // 3}", f"b={arena // 3}", f"c={arena}"])):
                with self.subTest(layer=name, pools=pools):
                    folder = self.folder / name / str(i)
                    folder.mkdir()
                    built = self.make(*words("--pool", *pools), model=model, folder=folder)
                    for a, e in zip(built.run("forward", inputs), expected, strict=True):
                        self.assertTrue(arrays.same(a, e))
                    built.selftest()
                    if len(pools) > 1:
                        self.assertGreater(sum(b > 0 for b in self.bytes_of(built).values()), 1)

    def test_sanitizers_find_nothing(self):
        built = self.make(*words("--pool", "name=sram,limit=12K", "dram=unlimited"),
                          flags=package.SANITIZED)
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])
        self.assertEqual(built.run("forward", [npy_file.read(DIGIT).data]),
                         [e.data for e in expected])

    def test_limit_holds_and_what_exceeds_it_lies_in_the_next_pool(self):
        built = self.make(*words("--pool", "name=sram,limit=12K", "dram=unlimited"))
        sizes = self.bytes_of(built)
        self.assertLessEqual(sizes["sram"], 12288)
        self.assertGreater(sizes["dram"], 0)
        header = (self.folder / "c/kws.h").read_text()
        for name, size in sizes.items():
            self.assertIn(f"#define KWS_POOL_{name.upper()}_BYTES {size}u\n", header)
        self.assertEqual(built.manifest["methods"][0]["pool_bytes"], list(sizes.values()))

    def test_pool_that_is_not_needed_asks_for_nothing(self):
        built = self.make(*words("--pool", "sram=1M", "dram=unlimited"))
        self.assertEqual(self.bytes_of(built)["dram"], 0)
        self.make_app(built)
        self.link("app", "kws_memory.o", "kws_selftest.o")
        done(["./app"], self.folder)

    def test_values_are_pinned_by_name(self):
        built = self.make(*words("--pool", "sram=unlimited", "dram=unlimited"),
                          *words("--pin", "image=dram", "relu_*=dram"))
        source = (self.folder / "c/kws.c").read_text()
        places = dict(re.findall(r"kws_input_(\w+)\(.*\) \{\n.*context->(\w+)[ )]", source))
        self.assertEqual(places, {"image": "pool_dram"})
        step = re.search(r"out relu_1: .*?\n\}", source, re.DOTALL).group()
        self.assertIn("(float *)(void *)(pool_dram", step)
        image = npy_file.read(DIGIT).data
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])
        self.assertEqual(built.run("forward", [image]), [e.data for e in expected])

    def make_app(self, built):
        (self.folder / "app.c").write_text(APP)
        for part in ("memory", "selftest"):
            built.compiled(f"kws_{part}.c")

    def link(self, name, *objects, flags=()):
        done(["gcc", "-std=c99", *package.WARNINGS, "-Ic", f"{name}.c", "kws.o", "kws_params.o",
              *objects, *flags, "-lm", "-o", name], self.folder)

    def test_what_a_caller_does_wrong_is_a_status_or_does_not_compile(self):
        self.make(*words("--pool", "name=sram,limit=12K,align=64", "dram=unlimited"))
        (self.folder / "errors.c").write_text(ERRORS)
        self.link("errors")
        done(["./errors"], self.folder)
        for first, second, compiles in (("sram", "dram", True), ("dram", "sram", False)):
            (self.folder / "swap.c").write_text(SWAPPED % (first, second))
            for compiler in (["gcc", "-std=c99", "-Werror"], ["g++", "-x", "c++"]):
                result = subprocess.run([*compiler, "-Ic", "-c", "swap.c", "-o", "swap.o"],
                                        cwd=self.folder, stderr=subprocess.PIPE, text=True)
                self.assertEqual(result.returncode == 0, compiles, result.stderr)

    def test_arrays_have_the_sections_of_their_pools(self):
        built = self.make(*words("--pool", "name=sram,limit=12K,section=.bss.fast,align=256",
                                 "name=dram,section=.noinit.slow"))
        built.compiled("kws_memory.c")
        listed = done(["objdump", "-h", "kws_memory.o"], self.folder)
        sections = {name: (int(size, 16), int(align)) for name, size, align in re.findall(
            r"\d+ (\S+) +([0-9a-f]{8}) .* 2\*\*(\d+)\n", listed)}
        sizes = self.bytes_of(built)
        self.assertEqual(sections[".bss.fast"], (sizes["sram"], 8))
        self.assertEqual(sections[".noinit.slow"][0], sizes["dram"])
        self.assertRegex(listed, r"\.bss\.fast .*\n +ALLOC\n")
        for flags, compiles in ((["-DKWS_STATIC_SRAM_BYTES=65536"], True),
                                (["-DKWS_STATIC_SRAM_BYTES=64"], False)):
            result = subprocess.run(["gcc", "-std=c99", *package.WARNINGS, *flags, "-c",
                                     "c/kws_memory.c", "-o", "x.o"], cwd=self.folder,
                                    stderr=subprocess.PIPE, text=True)
            self.assertEqual(result.returncode == 0, compiles, result.stderr)
        done(["g++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-c",
              "c/kws_memory.c", "-o", "x.o"], self.folder)

    def test_linker_puts_pools_at_their_addresses(self):
        package.generate(self.folder, "kws", [("forward", DIGITS)], [*words(
            "--pool", "name=sram,size=64K,address=0x10000010",
            "name=flash,kind=ro,section=.rodata.weights,address=0x20000000,align=32"),
            "--link-param", "*=flash"])
        (self.folder / "app.c").write_text(APP)
        (self.folder / "Makefile").write_text(
            "KWS_DIR = c\ninclude c/kws.mk\napp: app.c $(KWS_OBJECTS) c/kws_selftest.o\n"
            "\t$(CC) $(KWS_CFLAGS) -no-pie $^ $(KWS_LDFLAGS) -lm -o $@\n")
        done(["make", "app"], self.folder)
        self.assertEqual(done(["./app"], self.folder), "0x10000010\n")
        listed = done(["nm", "app"], self.folder)
        params = [int(a, 16) for a, _ in re.findall(r"(\w+) R (kws_param_\w+)", listed)]
        self.assertEqual(min(params), 0x20000000)
        self.assertTrue(all(a % 32 == 0 for a in params))

    def test_each_parameter_may_have_a_section_and_an_address_of_its_own(self):
        places = {"score.bias": 0x20000000, "stem.0.bias@stem.1": 0x20010040}
        pools = [f"name=own{i},kind=ro,section=.own{i},address={at:#x}"
                 for i, at in enumerate(places.values())]
        built = self.make(*words("--pool", "name=sram", *pools), *words(
            "--link-param", *(f"{name}=own{i}" for i, name in enumerate(places))))
        sections = {symbol: section for section, symbol in re.findall(
            r"^\w+ g +O (\S+)\t\w+ (kws_param_\w+)$",
            done(["objdump", "-t", "kws_params.o"], self.folder), re.MULTILINE)}
        self.make_app(built)
        self.link("app", "kws_memory.o", "kws_selftest.o", flags=["-no-pie", "-Wl,-T,c/kws.ld"])
        done(["./app"], self.folder)
        addresses = {symbol: int(at, 16) for at, symbol in re.findall(
            r"(\w+) R (kws_param_\w+)", done(["nm", "app"], self.folder))}
        for row in built.manifest["parameters"]:
            own = list(places).index(row["name"]) if row["name"] in places else None
            if own is None:
                self.assertNotIn(".own", sections[row["symbol"]])
                continue
            self.assertEqual(sections[row["symbol"]], f".own{own}")
            self.assertEqual(addresses[row["symbol"]], places[row["name"]])
        self.assertEqual(sum(s.startswith(".own") for s in sections.values()), 2)

    def test_two_parameters_at_one_address_are_refused(self):
        # The first has 40 bytes, and the second begins within them.
        message = self.refused(*words("--pool", "name=sram", "name=a,kind=ro,address=0x20000000",
                                      "name=b,kind=ro,address=0x20000020"),
                               *words("--link-param", "score.bias=a", "stem.0.bias@stem.1=b"))
        self.assertIn("pools overlap: 'a' has 48 bytes at 0x20000000, and 'b' has 64 bytes at "
                      "0x20000020", message)

    def test_parameters_lie_in_their_pools(self):
        built = self.make(*words("--pool", "name=itcm,kind=ro,prefer=1K,section=.itcm",
                                 "name=flash,kind=ro,section=.flash,align=64"),
                          *words("--link-param", "*bias*=itcm", "*weight*=flash", "*=flash"))
        rows = built.manifest["parameters"]
        sections = {symbol: section for section, symbol in re.findall(
            r"^\w+ g +O (\S+)\t\w+ (kws_param_\w+)$", done(["objdump", "-t", "kws_params.o"],
                                                          self.folder), re.MULTILINE)}
        self.assertEqual(sections, {r["symbol"]: "." + r["pool"] for r in rows})
        self.assertEqual({r["pool"] for r in rows}, {"itcm", "flash"})
        round_up = lambda n, a: (n + a - 1) // a * a
        for name, align in (("itcm", 16), ("flash", 64)):
            self.assertEqual(self.bytes_of(built)[name], sum(
                round_up(r["bytes"], align) for r in rows if r["pool"] == name))
        built.selftest()
        (self.folder / "none").mkdir()
        none = self.make(*words("--pool", "name=flash,kind=ro"), folder=self.folder / "none")
        self.assertEqual({r["pool"] for r in none.manifest["parameters"]}, {None})
        self.assertNotIn("kws_memory.c", os.listdir(self.folder / "none/c"))

    def test_parameters_beyond_a_limit_lie_in_the_next_pool(self):
        for key in ("limit", "size", "prefer"):
            with self.subTest(key=key):
                folder = self.folder / key
                folder.mkdir()
                built = self.make(*words("--pool", f"name=itcm,kind=ro,{key}=1K",
                                         "name=flash,kind=ro"), "--params", "pool", folder=folder)
                found = self.bytes_of(built)
                self.assertTrue(0 < found["itcm"] <= 1024, found)
                self.assertGreater(found["flash"], 1024)
                built.selftest()
        # What is full to what is preferred alone refuses nothing.
        mixed = self.make(*words("--pool", "name=itcm,kind=ro,limit=1K",
                                 "name=flash,kind=ro,prefer=1K"), "--params", "pool")
        self.assertEqual({r["kind"] for r in mixed.manifest["parameters"]}, {"pooled", "linked"})
        message = self.refused(*words("--pool", "name=itcm,kind=ro,limit=1K",
                                      "name=flash,kind=ro,limit=2K"), "--params", "pool")
        self.assertRegex(message, r"pool 'flash' has 2048 bytes, its \d+ parameters need \d+, \d+ "
                                  r"more; the largest: ")

    def test_state_lies_in_the_pool_of_that_name(self):
        ones = struct.pack("<4f", 1, 1, 1, 1)
        for i, (methods, pools, place) in enumerate((
                (("add", "read"), ("name=state,section=.noinit", "sram=unlimited"), "state"),
                (("add", "read"), ("sram=1M",), "state"),  # made when it is not there
                (("add",), ("name=state,align=128", "sram=unlimited"), "state"),
                (("add",), ("name=state,align=128",), "state"),
                (("add",), ("sram=unlimited",), "sram"))):
            folder = self.folder / str(i)
            folder.mkdir()
            counter = package.Package(
                folder, "counter", [(m, STATE / f"counter.{m}.pt2") for m in methods],
                words=words("--pool", *pools), more=package.UNOPTIMISED)
            self.assertEqual([p["name"] for p in counter.manifest["pools"] if p["keeps_state"]],
                             ["state"] if place == "state" else [])
            self.assertRegex((folder / "c/counter.c").read_text(),
                             rf"memcpy\(context->pool_{place}( \+ \d+)?, \(const void \*\)counter_init")
            first, second, _, again = counter.calls(
                [("add", [ones]), ("add", [ones]), ("reset", []), ("add", [ones])])
            self.assertEqual(struct.unpack("<4f", first[0]), (2, 3, 4, 5))
            self.assertEqual(struct.unpack("<4f", second[0]), (3, 4, 5, 6))
            self.assertEqual(again, first)
            counter.selftest()

    def test_pools_that_are_too_small_say_what_is_missing(self):
        message = self.refused(*words("--pool", "sram=4K", "dram=6K"))
        self.assertRegex(message, r"pool 'dram' has 6144 bytes, \d+ more are needed: in method "
                                  r"'forward' at time \d+ are alive: \S+ \d+")
        message = self.refused(*words("--pool", "sram=4K", "dram=unlimited"),
                               *words("--pin", "*=sram"))
        self.assertRegex(message, r"pool 'sram' has 4096 bytes, \d+ more are needed: in method")
        message = self.refused(*words("--pool", "name=flash,kind=ro,limit=1000"),
                               *words("--link-param", "*=flash"))
        self.assertRegex(message, r"pool 'flash' has 1000 bytes, its \d+ parameters need \d+, \d+ "
                                  r"more; the largest: (\S+ \d+, ){4}\S+ \d+\n")

    def test_wrong_words_are_named(self):
        flash = "name=flash,kind=ro"
        for more, message in (
                (["--pool", "name=sram,align=0"], "align is '0', must be a power of two"),
                (["--pool", "name=sram,align=48"], "align is '48', must be a power of two"),
                (["--pool", "name=sram,speed=9"], "speed is '9', is no key"),
                (["--pool", "name=sram,section=a\"b"], "section is 'a\"b', must be letters"),
                (["--pool", "name=sram,section=a\nb"], "section is 'a\nb', must be letters"),
                (words("--pool", "sram=1K", "sram=2K"), "pool 'sram' is given twice"),
                (words("--pool", "name=a,size=8,address=0", "name=b,size=8,address=7"),
                 "pools overlap: 'a' has 8 bytes at 0x0, and 'b' has 8 bytes at 0x7"),
                (["--pool", "name=sram,address=0x10000008"],
                 "address is 0x10000008, must be a multiple of 16, which all memory is aligned"),
                (words("--pool", "name=a,section=.x", "name=b,section=.x,address=64"),
                 "pools 'a' and 'b' share section .x"),
                (["--pool", "name=a,section=.text"], "section is '.text', which kind=rw cannot be"),
                (["--pool", "int=1K"], "name is 'int', must be letters"),
                (["--pool", "a-b=1K"], "name is 'a-b', must be letters"),
                (["--pool", "a_bytes=1K"], "not end with _bytes"),
                (["--pool", "pools=1K"], "name is 'pools', must be letters"),
                (words("--pool", "a=1K", "A=1K"), "pools 'a' and 'A' would both be called A"),
                (["--pin", "x=sram"], "--pin 'x=sram': there is no --pool of that name"),
                (["--pin", "x"], "--pin 'x': must be GLOB=POOL"),
                (["--link-param", "x="], "--link-param 'x=': must be GLOB=POOL"),
                (["--pool", "sram=1M", "--pin", "=sram"], "--pin '=sram': must be GLOB=POOL"),
                (["--pool", flash, "--pin", "x=flash"], "values lie in pools of kind=rw"),
                (["--pool", "name=n,targets=npu", "--pin", "x=n"], "targets of that pool are")):
            self.assertIn(message, self.refused(*more, code=2), more)
        self.assertIn("no value has such a name",
                      self.refused("--pool", "sram=1M", "--pin", "nothing*=sram"))
        for io in ("image", "linear"):
            self.assertIn(
                f"--pin '{io}=sram': '{io}' is an input or output, which lies where the caller has "
                "it with --io caller; --io arena gives it a place in a pool",
                self.refused("--pool", "sram=1M", "--pin", f"{io}=sram", "--io", "caller"))
        self.assertIn("no parameter has such a name",
                      self.refused("--pool", flash, "--link-param", "nothing*=flash"))
        self.assertIn("pools overlap", self.refused(
            *words("--pool", "name=a,address=0x1000", "name=b,address=0x1100"), "--pin", "image=b"))

    def test_pools_of_other_targets_are_not_used(self):
        built = self.make(*words("--pool", "name=npu_ram,targets=npu", "name=sram,targets=npu,c"))
        self.assertEqual(set(self.bytes_of(built)), {"sram"})

    def test_plans_of_others_are_checked(self):
        (self.folder / "planner.py").write_text(PLANNER)
        pools = words("--pool", "fast=unlimited", "slow=unlimited")
        for step, code in ((1, 0), (0, 1)):
            command = f"python3 {self.folder}/planner.py {step}"
            result = subprocess.run(
                [PETREL, "gen-c", DIGITS, "-o", f"c{step}", "--name", "kws", *pools,
                 "--planner-command", command], cwd=self.folder, text=True, stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn("overlap at time", result.stderr)
        manifest = json.loads((self.folder / "c1/manifest.json").read_text())
        self.assertEqual([p["bytes"] > 0 for p in manifest["pools"]], [False, True])
        self.assertFalse((self.folder / "c0").exists())

    def test_equal_words_give_equal_files(self):
        for name in ("a", "b"):
            done([PETREL, "gen-c", DIGITS, "-o", name, "--name", "kws", "--pool", "sram=12K",
                  "--pool", "name=dram,address=0x100000"], self.folder)
        for file in (self.folder / "a").iterdir():
            self.assertEqual(file.read_bytes(), (self.folder / "b" / file.name).read_bytes())
        json.loads((self.folder / "a/manifest.json").read_text())


if __name__ == "__main__":
    unittest.main()
