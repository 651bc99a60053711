# SPDX-License-Identifier: Apache-2.0
"""The petrel command as a user meets it: verbs, files, errors, exit codes."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import zipfile

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
MODEL = pathlib.Path("examples/quickstart/digits.pt2").absolute()
VARYING = pathlib.Path("test/models/fixtures/torch_2_13/dynamic_batch.pt2").absolute()
IMAGE = pathlib.Path("examples/quickstart/digit.npy").absolute()


def petrel(*arguments, cwd=None):
    return subprocess.run([PETREL, *map(str, arguments)], cwd=cwd, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def done(self, *arguments):
        result = petrel(*arguments, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def fails(self, code, *arguments):
        """The first line of the error."""
        result = petrel(*arguments, cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertTrue(result.stderr.startswith("petrel"), result.stderr)
        return result.stderr.splitlines()[0]

    def export(self, name="m", *more):
        self.done("export", MODEL, "-o", f"{name}.pte", *more)

    def test_help_of_every_verb_has_examples(self):
        self.assertIn("export", self.done("--help"))
        for verb in ("export", "run", "inspect", "verify", "bench", "opt", "plan", "data", "quantize",
                     "tune"):
            self.assertIn(f"petrel {verb}", self.done(verb, "--help"))

    def test_isa_caps_what_computes(self):
        self.export("k", "--backend", "none")
        self.export()
        levels = self.done("run", "--isa", "list").split()
        self.assertIn("native", levels)
        lowest = levels[0]
        for program in ("m.pte", "k.pte"):
            outputs = {}
            for level in (lowest, "native"):
                self.done("run", program, "--input", IMAGE, "--isa", level,
                          "--output-dir", level)
                outputs[level] = npy_file.read_elements(self.folder / level / "output_0.npy")
            for a, b in zip(outputs[lowest], outputs["native"]):
                self.assertAlmostEqual(a, b, delta=1e-4)
        bench = ["bench", "m.pte", "--json", "--seconds", "0", "--min-runs", "1"]
        self.assertEqual(json.loads(self.done(*bench, "--isa", lowest))["isa"], lowest)
        self.assertEqual(json.loads(self.done(*bench))["isa"], "native")
        for verb in ("run", "bench"):
            error = self.fails(2, verb, "m.pte", "--isa", "avx9")
            self.assertIn("'avx9' is unknown", error)
            self.assertIn(", ".join(levels), error)

    def test_isa_is_part_of_the_key_of_packed_weights(self):
        self.export()
        lowest = self.done("run", "--isa", "list").split()[0]
        packed = self.folder / "packed"
        for level in (lowest, "native"):
            use = ["run", "m.pte", "--packed-weights", packed, "--isa", level]
            self.done(*use)
            made = packed.stat().st_ino
            self.done(*use)
            self.assertEqual(packed.stat().st_ino, made, f"packed again at {level}")
            if level == lowest:
                first = made
        self.assertNotEqual(made, first)

    def test_wrong_usage_is_2(self):
        for arguments in ([], ["fly"], ["export"], ["export", MODEL],
                          ["export", MODEL, "-o", "m.pte", "--backend", "gpu"],
                          ["export", "-o", "m.pte"],
                          ["export", "-o", "m.pte", "--method", "forward"],
                          ["export", MODEL, "-o", "m.pte", "--method", f"forward={MODEL}"],
                          ["run"], ["run", "m.pte", "--threads", "-1"],
                          ["run", "m.pte", "--kernels", "slow"],
                          ["run", "m.pte", "--input", "x.npy", "--call", "forward"],
                          ["export", MODEL, "-o", "m.pte", "--backend", "none", "--whole-methods"],
                          ["gen-c", MODEL, "-o", "c", "--whole-methods"],
                          ["opt", MODEL, "--after", "no_such_pass"]):
            self.fails(2, *arguments)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_wrong_words_are_named(self):
        for arguments, what, verb in (
                (["fly"], "no verb 'fly'", ""), (["data", "fly"], "no verb 'fly'", "data "),
                (["run", "--fly"], "no place for '--fly'", "run "),
                (["data", "list", "a", "--fly", "3"], "no place for '--fly' '3'", "data list "),
                (["run", "a.pte", "--threads", "x"], "--threads: ", "run ")):
            done = petrel(*arguments, cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr.splitlines()[0])
            self.assertEqual(done.stderr.splitlines()[1], f"Try `petrel {verb}--help`.")

    def test_version_tells_builds_and_formats(self):
        text = self.done("--version")
        self.assertRegex(text, r"^petrel \d+\.\d+\.\d+, built with (GCC|Clang) \d+\.\d+\S*\n")
        for words in (r"\.pt2 +schema 8", r"\.pte +ET12, version 0", r"\.ptd +FT01, version 0",
                      r"petrel\.program +PA01, version 0", r"backends +xnnpack"):
            self.assertRegex(text, words)

    def test_seconds_are_numbers(self):
        for word, reason in (("nan", "nan is not a number"), ("-NAN", "-NAN is not a number"),
                             ("inf", "not in range"), ("-1", "not in range"), ("1e", "not in range")):
            self.assertIn(reason, self.fails(2, "bench", "m.pte", f"--seconds={word}"), word)

    def test_progress_is_for_terminals(self):
        self.export()
        bench = ("bench", "m.pte", "--seconds", "3")
        self.assertEqual(petrel(*bench, cwd=self.folder).stderr, "")
        try:
            terminal, of_command = os.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo terminals here: {error}")
        done = subprocess.run([PETREL, *bench], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=of_command)
        os.close(of_command)
        said = b""
        with contextlib.suppress(OSError):  # the end, once nobody has the other side
            while piece := os.read(terminal, 10000):
                said += piece
        os.close(terminal)
        said = said.decode()
        self.assertEqual(done.returncode, 0)
        self.assertRegex(said, r"petrel bench: measure, \d s")
        self.assertTrue(said.endswith("\r\x1b[K"), said)

    def test_backends_are_chosen_by_method(self):
        report = json.loads(self.done(
            "export", "--method", f"a={MODEL}", "--method", f"b={MODEL}", "-o", "m.pte",
            "--backend", "b=none", "--json"))
        delegated = {m["name"]: [d["backend"] for d in m["delegated"]] for m in report["methods"]}
        self.assertEqual(delegated, {"a": ["XnnpackBackend"], "b": []})

    def test_wrong_choices_of_backends_are_named(self):
        export = ["export", MODEL, "-o", "m.pte"]
        for words, message in (
                (["--backend", "gpu"], "--backend is 'gpu', must be NAME or METHOD=NAME with a "
                                       "name of xnnpack, none"),
                (["--backend", "forward=gpu"], "--backend is 'forward=gpu', must be"),
                (["--backend", "xnnpack", "--backend", "none"], "none must be alone"),
                (["--backend", "none", "--compile-spec", "a=b"], "'a=b' names no backend"),
                (["--compile-spec", "a"], "--compile-spec is 'a', must be KEY=VALUE")):
            self.assertIn(message, self.fails(2, *export, *words))
        for words, message in (
                (["--backend", "xnnpack", "--backend", "xnnpack"],
                 "backend 'XnnpackBackend' is given twice for all methods"),
                (["--backend", "decode=xnnpack"], "method 'decode', which is not there"),
                (["--compile-spec", "a=b"], "compile spec 'a'")):
            self.assertIn(message, self.fails(1, *export, *words))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_packed_weights_are_kept_in_a_file(self):
        self.export()
        plain = self.done("run", "m.pte", "--input", IMAGE)
        use = ["--packed-weights", "packed"]
        for more in ([], [], ["--verify-packed", "never"]):
            self.assertEqual(self.done("run", "m.pte", "--input", IMAGE, *use, *more), plain)
        self.assertEqual((self.folder / "packed").stat().st_mode & 0o7777, 0o600)
        first = json.loads(self.done("bench", "m.pte", "--seconds", "0.01", "--json"))
        mapped = json.loads(self.done("bench", "m.pte", "--seconds", "0.01", "--json", *use))
        self.assertGreater(first["packed_bytes"], 0)
        self.assertEqual(mapped["packed_bytes"], 0)
        self.assertGreater(mapped["private_memory_bytes"], 1 << 16)
        (self.folder / "packed").write_bytes(b"no such thing")
        self.assertEqual(self.done("run", "m.pte", "--input", IMAGE, *use), plain)
        self.fails(2, "run", "m.pte", "--verify-packed", "never")
        self.fails(1, "run", "m.pte", "--packed-weights", "x" * 300)

    def test_tells_that_packed_weights_are_not_kept(self):
        self.export()
        (self.folder / "other").write_bytes(b"of another kind")
        for path, why in (("none/packed", "cannot be written"), ("other", "packed again")):
            for verb in (["run", "m.pte"], ["bench", "m.pte", "--seconds", "0.01"]):
                done = petrel(*verb, "--packed-weights", path, cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"petrel {verb[0]}: warning: packed weights '{path}'", done.stderr)
                self.assertIn(why, done.stderr)

    def test_output_that_is_lost_is_no_success(self):
        self.export()
        for arguments in (["--help"], ["--version"], ["inspect", "m.pte", "--json"],
                          ["run", "m.pte"], ["completion", "bash"], ["data", "list", "m.pte"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PETREL, *arguments], cwd=self.folder, text=True,
                                      stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("petrel: cannot write the output", done.stderr)

    def test_winograds_convolutions_can_be_switched_off(self):
        self.export()
        packed = {}
        for word in ("on", "off"):
            out = self.done("bench", "m.pte", "--seconds", "0.01", "--json", "--winograd", word)
            packed[word] = json.loads(out)["packed_bytes"]
            steps = self.done("bench", "m.pte", "--seconds", "0.01", "--profile", "--winograd", word)
            self.assertEqual("Winograd" in steps, word == "on")
            self.done("run", "m.pte", "--input", IMAGE, "--output-dir", word, "--winograd", word)
        scores = [npy_file.read_elements(self.folder / word / "output_0.npy") for word in ("on", "off")]
        for on, off in zip(*scores):
            self.assertAlmostEqual(on, off, delta=1e-4)
        self.assertLessEqual(packed["on"], 1.1 * packed["off"])
        self.assertIn("--winograd", self.fails(2, "run", "m.pte", "--winograd", "maybe"))

    def test_fast_math_is_close_and_has_to_be_asked_for(self):
        self.export()
        for word in ("exact", "fast"):
            self.done("run", "m.pte", "--input", IMAGE, "--output-dir", word, "--math", word)
        self.done("run", "m.pte", "--input", IMAGE, "--output-dir", "plain")
        outputs = [(self.folder / word / "output_0.npy").read_bytes() for word in ("plain", "exact")]
        self.assertEqual(*outputs)
        scores = [npy_file.read_elements(self.folder / word / "output_0.npy")
                  for word in ("exact", "fast")]
        for exact, fast in zip(*scores):
            self.assertAlmostEqual(exact, fast, delta=1e-3)
        self.assertIn("--math", self.fails(2, "run", "m.pte", "--math", "quick"))

    def test_packed_weights_may_lie_in_huge_pages(self):
        self.export()
        for word in ("auto", "on", "off"):
            self.done("run", "m.pte", "--input", IMAGE, "--output-dir", word, "--huge-pages", word)
        outputs = {(self.folder / word / "output_0.npy").read_bytes()
                   for word in ("auto", "on", "off")}
        self.assertEqual(len(outputs), 1)
        self.assertIn("--huge-pages", self.fails(2, "run", "m.pte", "--huge-pages", "2MB"))

    def test_export_and_run_classify_an_image(self):
        scores = {}
        for backend in ("xnnpack", "none"):
            self.export(backend, "--backend", backend)
            out = self.done("run", f"{backend}.pte", "--input", IMAGE, "--output-dir", backend)
            self.assertRegex(out, r"^output_0: float32 \[1,10\] sha256 [0-9a-f]{16}\n$")
            scores[backend] = npy_file.read_elements(self.folder / backend / "output_0.npy")
        label = pathlib.Path("examples/quickstart/digits.bin").read_bytes()[64]
        for values in scores.values():
            self.assertEqual(max(range(10), key=values.__getitem__), label)
        for a, b in zip(*scores.values()):
            self.assertAlmostEqual(a, b, places=3)

    def test_xnnpack_is_the_default_backend(self):
        self.export()
        self.assertIn("XnnpackBackend", self.done("inspect", "m.pte"))

    def test_external_weights_leave_the_program(self):
        self.export("inline")
        self.export("m", "--external-weights", "m.ptd")
        inline, small, weights = (os.path.getsize(self.folder / f)
                                  for f in ("inline.pte", "m.pte", "m.ptd"))
        self.assertLess(small, inline / 2)
        self.assertGreater(weights, inline / 2)
        same = self.done("run", "inline.pte", "--input", IMAGE)
        self.assertEqual(self.done("run", "m.pte", "--data", "m.ptd", "--input", IMAGE), same)
        self.assertIn("m.pte", " ".join([self.fails(1, "run", "m.pte"), "m.pte"]))

    def test_two_exports_are_equal_byte_for_byte(self):
        for backend in ("xnnpack", "none"):
            for name in ("a", "b"):
                self.export(name, "--backend", backend, "--external-weights", f"{name}.ptd")
            for kind in ("pte", "ptd"):
                self.assertEqual((self.folder / f"a.{kind}").read_bytes(),
                                 (self.folder / f"b.{kind}").read_bytes())

    def test_methods_share_their_weights(self):
        self.export("one")
        self.done("export", "--method", f"forward={MODEL}", "--method", f"again={MODEL}",
                  "-o", "two.pte")
        one, two = (os.path.getsize(self.folder / f) for f in ("one.pte", "two.pte"))
        self.assertLess(two, one * 1.2)
        out = self.done("run", "two.pte", "--call", f"again:{IMAGE}", "--call", f"forward:{IMAGE}",
                        "--output-dir", "out")
        digests = [line.split()[-1] for line in out.splitlines()]
        self.assertEqual(len(digests), 2)
        self.assertEqual(digests[0], digests[1])
        self.assertTrue((self.folder / "out" / "call_1_output_0.npy").exists())

    def test_report_says_what_happened(self):
        text = self.done("export", MODEL, "-o", "m.pte", "--report")
        for word in ("XnnpackBackend in 1 partition", "not delegated  0 nodes", "arena",
                     "lower bound", "fullest        at time", "weights", "time"):
            self.assertIn(word, text)
        report = json.loads(self.done("export", MODEL, "-o", "m.pte", "--json"))
        self.assertEqual(report["methods"][0]["delegated"][0]["partitions"], 1)
        fullest = report["methods"][0]["arena_fullest"]
        self.assertEqual(sum(v["bytes"] for v in fullest["values"]), fullest["bytes"])
        self.assertLessEqual(fullest["bytes"], report["methods"][0]["arena_lower_bound_bytes"])
        self.assertEqual(report["file_bytes"]["program"],
                         os.path.getsize(self.folder / "m.pte"))
        self.assertEqual(list(report["seconds"]),
                         ["import", "optimize", "delegate", "legalize", "plan", "emit"])

    def test_dump_after_prints_the_graph(self):
        text = self.done("export", MODEL, "-o", "m.pte", "--dump-after", "fold_batch_norm")
        self.assertIn("aten.convolution.default", text)
        self.assertNotIn("batch_norm.default", text)
        self.fails(1, "export", MODEL, "-o", "n.pte", "--dump-after", "no_such_pass")

    def test_opt_shows_passes(self):
        self.assertIn("aten.batch_norm.default", self.done("opt", MODEL, "--after", "import"))
        self.assertNotIn("aten.batch_norm.default", self.done("opt", MODEL))
        self.assertIn("fold_batch_norm", self.done("opt", "--list"))

    def test_inspect_tells_each_kind_of_file(self):
        self.export("m", "--external-weights", "m.ptd")
        program = json.loads(self.done("inspect", "m.pte", "--json"))
        self.assertEqual(program["kind"], "program")
        graph = program["methods"][0]["delegates"][0]["graph"]
        self.assertTrue(any(line.startswith("Conv2d") for line in graph))
        data = json.loads(self.done("inspect", "m.ptd", "--json"))
        self.assertTrue(all(len(entry["key"]) == 64 for entry in data["entries"]))
        archive = json.loads(self.done("inspect", MODEL, "--json"))
        self.assertEqual(archive["torch_version"].split("+")[0], "2.13.0")
        for file in ("m.pte", "m.ptd", MODEL):
            self.assertTrue(self.done("inspect", file))

    def test_inspect_shows_sizes_without_an_upper_bound(self):
        with zipfile.ZipFile(VARYING) as old, zipfile.ZipFile(self.folder / "open.pt2", "w") as new:
            for name in old.namelist():
                content = old.read(name)
                if name.endswith("models/model.json"):
                    content = re.sub(rb'"max_val": *\d+', b'"max_val": null', content)
                new.writestr(name, content)
        self.assertIn("has no upper bound", self.fails(1, "export", "open.pt2", "-o", "o.pte"))
        sizes = json.loads(self.done("inspect", "open.pt2", "--json"))["unbounded_sizes"]
        self.assertEqual(len(sizes), 1)
        self.assertIn(f"<{sizes[0]}: 1..>(%", self.done("inspect", "open.pt2"))

    def test_verify_finds_damage(self):
        self.export("m", "--external-weights", "m.ptd")
        self.assertEqual(self.done("verify", "m.pte", "m.ptd", MODEL).count(": ok"), 3)
        for name in ("m.pte", "m.ptd"):
            data = (self.folder / name).read_bytes()
            (self.folder / "cut").write_bytes(data[:len(data) // 2])
            self.assertIn("cut", petrel("verify", "cut", cwd=self.folder).stderr)
            self.fails(1, "verify", "cut")
        # Good files are told even beside bad ones.
        result = petrel("verify", "cut", "m.pte", cwd=self.folder)
        self.assertEqual((result.returncode, result.stdout), (1, "m.pte: ok\n"))

    def test_bench_measures(self):
        self.export()
        figures = json.loads(self.done("bench", "m.pte", "--seconds", "0.05", "--json"))
        self.assertGreater(figures["load_seconds"], 0)
        self.assertLessEqual(figures["min_seconds"], figures["p50_seconds"])
        self.assertLessEqual(figures["p50_seconds"], figures["p90_seconds"])
        self.assertLessEqual(figures["p90_seconds"], figures["p99_seconds"])
        self.assertGreater(figures["processor_seconds"], 0)
        self.assertGreaterEqual(figures["runs"], 30)
        self.assertGreater(figures["packed_bytes"], 0)
        self.assertGreater(figures["peak_memory_bytes"], 1 << 20)

    def test_bench_tells_how_long_each_part_takes(self):
        self.export()
        words = ["bench", "m.pte", "--seconds", "0", "--min-runs", "5", "--profile"]
        steps = json.loads(self.done(*words, "--json"))["steps"]
        calls = [s for s in steps if "delegate_step" not in s]
        parts = [s for s in steps if "delegate_step" in s]
        self.assertEqual([s["name"] for s in calls], ["XnnpackBackend"])
        self.assertRegex(parts[0]["name"], r"^[A-Z].*, \[[\d,]+\] to \[[\d,]+\]$")
        self.assertTrue(any("Fully Connected" in s["name"] for s in parts), parts)
        self.assertLessEqual(max(s["p50_seconds"] for s in parts), calls[0]["p50_seconds"])
        text = self.done(*words)
        for step in steps:
            self.assertIn(step["name"], text)

    def test_failures_leave_no_files(self):
        (self.folder / "bad.pt2").write_bytes(MODEL.read_bytes()[:5000])
        self.assertIn("bad.pt2", self.fails(1, "export", "bad.pt2", "-o", "x.pte",
                                            "--external-weights", "x.ptd"))
        self.fails(1, "export", "missing.pt2", "-o", "x.pte")
        self.fails(1, "export", MODEL, "-o", "no/such/folder/x.pte")
        (self.folder / "folder.pte").mkdir()
        self.fails(1, "export", MODEL, "-o", "folder.pte")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["bad.pt2", "folder.pte"])
        self.assertEqual(list((self.folder / "folder.pte").iterdir()), [])

    def test_a_failed_export_keeps_the_old_file(self):
        self.export()
        before = (self.folder / "m.pte").read_bytes()
        self.fails(1, "export", "missing.pt2", "-o", "m.pte")
        self.assertEqual((self.folder / "m.pte").read_bytes(), before)

    def test_run_names_the_wrong_input(self):
        self.export()
        (self.folder / "x.npy").write_bytes(IMAGE.read_bytes().replace(b"<f4", b"<i4"))
        self.assertIn("int32", self.fails(1, "run", "m.pte", "--input", "x.npy"))
        self.assertIn("2 inputs", self.fails(1, "run", "m.pte", "--input", IMAGE, "--input", IMAGE))
        self.assertIn("gone.npy", self.fails(1, "run", "m.pte", "--input", "gone.npy"))
        self.assertIn("backward", self.fails(1, "run", "m.pte", "--method", "backward"))
        (self.folder / "text.pte").write_text("not a program, but long enough to be looked at " * 3)
        self.fails(1, "run", "text.pte")

    def test_unknown_compile_specs_are_refused(self):
        self.assertIn("speed", self.fails(1, "export", MODEL, "-o", "m.pte",
                                          "--compile-spec", "speed=11"))


if __name__ == "__main__":
    unittest.main()
