# SPDX-License-Identifier: Apache-2.0
"""Other weights for a program: `petrel data build` against a direct export."""

import io
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest
import zipfile

PETREL = pathlib.Path("extension/cli/petrel").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
FLOAT = 7  # of torch's archives
# Of some layers the default plan is searched for seconds.
QUICK_PLAN = ("--planner", "orderings")


def zeros(count):
    return b"\0" * 4 * count


def noise(count):
    return struct.pack(f"<{count}f", *((k * 7919 % 1000 + 10) / 1000 for k in range(count)))


def with_weights(source, make, only=lambda fqn: True):
    """The archive `source` with other float weights."""
    out = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w") as new:
        config = next(n for n in old.namelist() if n.endswith("_weights_config.json"))
        entries = json.loads(old.read(config))["config"]
        members = {f"{config.rsplit('/', 1)[0]}/{e['path_name']}": fqn
                   for fqn, e in entries.items() if e["tensor_meta"]["dtype"] == FLOAT}
        for item in old.infolist():
            data = old.read(item)
            fqn = members.get(item.filename)
            if fqn is not None and only(fqn):
                data = make(len(data) // 4)
            new.writestr(item.filename, data)
    return out.getvalue()


def safetensors(tensors):
    """{name: (sizes, bytes of floats)} as a file."""
    index, data = {}, b""
    for name, (sizes, content) in tensors.items():
        index[name] = {"dtype": "F32", "shape": sizes,
                       "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(index).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensors_of(source, names):
    """Those of the weights of an archive, as safetensors() takes them."""
    with zipfile.ZipFile(source) as archive:
        config = next(n for n in archive.namelist() if n.endswith("_weights_config.json"))
        weights = json.loads(archive.read(config))["config"]
        folder = config.rsplit("/", 1)[0]
        return {name: ([size["as_int"] for size in weights[name]["tensor_meta"]["sizes"]],
                       archive.read(f"{folder}/{weights[name]['path_name']}"))
                for name in names if name in weights}


class DataBuildTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def petrel(self, *arguments):
        return subprocess.run([PETREL, *map(str, arguments)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def done(self, *arguments):
        result = self.petrel(*arguments)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stderr}")
        return result.stdout

    def fails(self, *arguments):
        result = self.petrel(*arguments)
        self.assertEqual(result.returncode, 1, f"{arguments}: {result.stdout}")
        return result.stderr

    def bytes(self, name):
        return (self.folder / name).read_bytes()

    def export(self, model, name, *more):
        self.done("export", model, "-o", f"{name}.pte", "--weight-keys", "name",
                  "--external-weights", f"{name}.ptd", *QUICK_PLAN, *more)

    def test_new_weights_give_what_a_new_export_gives(self):
        """For whole networks and all layers, with and without delegates."""
        count = 0
        for model in [DIGITS, *sorted(LAYERS.glob("*.pt2"))]:
            for backend in ("xnnpack", "none"):
                self.export(model, "old", "--backend", backend)
                if not json.loads(self.done("data", "list", "old.ptd", "--json"))["entries"]:
                    continue
                for make in (zeros, noise):
                    with self.subTest(model=model.name, backend=backend, weights=make.__name__):
                        (self.folder / "new.pt2").write_bytes(with_weights(model, make))
                        self.export("new.pt2", "direct", "--backend", backend)
                        # No pass looked at a weight: it is the same program.
                        self.assertEqual(self.bytes("direct.pte"), self.bytes("old.pte"))
                        self.done("data", "build", "--from", "new.pt2", "--for", "old.pte",
                                  "-o", "new.ptd")
                        wanted = self.done("run", "direct.pte", "--data", "direct.ptd")
                        self.assertEqual(self.done("run", "old.pte", "--data", "new.ptd"), wanted)
                        count += 1
        self.assertGreater(count, 60)

    def test_what_changes_the_graph_is_remembered(self):
        model = LAYERS / "encoder.pt2"
        options = ("--allow-petrel-ops", "--backend", "none")
        self.export(model, "old", *options)
        self.assertIn("petrel::attention", self.done("inspect", "old.pte"))
        (self.folder / "new.pt2").write_bytes(with_weights(model, noise))
        self.export("new.pt2", "direct", *options)
        self.done("data", "build", "--from", "new.pt2", "--for", "old.pte", "-o", "new.ptd")
        self.assertEqual(self.done("run", "old.pte", "--data", "new.ptd"),
                         self.done("run", "direct.pte", "--data", "direct.ptd"))

    def test_quantised_weights_and_all_that_belongs_to_them_take_others(self):
        """Levels, scales and biases: what a program with the new weights computes."""
        (self.folder / "new.pt2").write_bytes(with_weights(DIGITS, noise))
        schemes = [("--calibrate", DIGIT), ("--scheme", "dynamic-int8"),
                   ("--scheme", "dynamic-int4", "--group", "32")]
        for scheme in schemes:
            for backend in ("xnnpack", "none"):
                with self.subTest(scheme=scheme, backend=backend):
                    options = ("--weight-keys", "name", "--backend", backend)
                    self.done("quantize", DIGITS, *scheme, "-o", "old.pte", "--record", "q.json",
                              *options, "--external", "*=old.ptd")
                    self.done("export", "new.pt2", "--quantize", "q.json", "-o", "direct.pte",
                              *options, "--external-weights", "direct.ptd")
                    self.assertEqual(self.bytes("direct.pte").count(b"@made_"),
                                     self.bytes("old.pte").count(b"@made_"))
                    wanted = self.done("run", "direct.pte", "--data", "direct.ptd")
                    before = self.done("run", "old.pte", "--data", "old.ptd")
                    self.assertNotEqual(before, wanted)
                    self.done("data", "build", "--from", "new.pt2", "--for", "old.pte", "-o",
                              "new.ptd")
                    self.assertEqual(self.done("run", "old.pte", "--data", "new.ptd"), wanted)
                    told = self.done("run", "old.pte", "--data", "old.ptd", "--replace", "new.ptd")
                    self.assertTrue(told.endswith(wanted), told)

    def test_a_swap_is_told(self):
        rules = ("--external", "score.*=score.ptd", "--external", "*=rest.ptd")
        for backend in ("xnnpack", "none"):
            self.done("export", DIGITS, "-o", "m.pte", "--weight-keys", "name", *rules,
                      "--backend", backend)
            (self.folder / "new.pt2").write_bytes(with_weights(DIGITS, noise))
            self.done("data", "build", "--from", "new.pt2", "--for", "m.pte", "-o", "new.ptd",
                      "--keys", "score.*")
            run = ("run", "m.pte", "--data", "rest.ptd", "--data", "score.ptd")
            wanted = self.done("run", "m.pte", "--data", "rest.ptd", "--data", "new.ptd")
            told = self.petrel(*run, "--replace", "score.*=new.ptd")
            self.assertRegex(told.stdout, "replaced 2 of 2 keys by new.ptd: [01] delegates")
            self.assertTrue(told.stdout.endswith(wanted))
            self.assertEqual(told.stderr, "")
            same = self.petrel(*run, "--replace", "score.ptd")
            self.assertRegex(same.stderr, 'warning: the data changes no weight: all 2 that "[*]"')
            self.assertEqual(same.stdout.split("\n", 1)[1], self.done(*run))
            self.assertIn('no key of the data matches "*lora*"',
                          self.fails(*run, "--replace", "*lora*=new.ptd"))
            wrong = {"score.bias": ([5], zeros(5))}
            (self.folder / "wrong.safetensors").write_bytes(safetensors(wrong))
            self.assertIn('"score.bias" is float32 [5]',
                          self.fails(*run, "--replace", "wrong.safetensors"))
            # What lies inside and is the same outside.
            self.done("data", "merge", "m.pte", "rest.ptd", "score.ptd", "-o", "in.pte")
            same = self.petrel("run", "in.pte", "--data", "score.ptd", "--override")
            self.assertIn("changes no weight: all 2", same.stderr)
            other = self.petrel("run", "in.pte", "--data", "new.ptd", "--override")
            self.assertEqual((other.stdout, other.stderr), (wanted, ""))

    def test_programs_with_their_weights_inside_take_others(self):
        for backend in ("xnnpack", "none"):
            self.done("export", DIGITS, "-o", "in.pte", "--weight-keys", "name", "--backend",
                      backend)
            old = self.done("run", "in.pte")
            (self.folder / "new.pt2").write_bytes(with_weights(DIGITS, noise))
            self.export("new.pt2", "direct", "--backend", backend)
            wanted = self.done("run", "direct.pte", "--data", "direct.ptd")
            self.assertNotEqual(old, wanted)
            self.done("data", "build", "--from", "new.pt2", "--for", "in.pte", "-o", "new.ptd")
            self.assertEqual(self.done("run", "in.pte", "--data", "new.ptd", "--override"), wanted)
            self.assertEqual(self.done("run", "in.pte"), old)

    def test_one_base_takes_several_adapters(self):
        rules = ("--external", "*.bias=a.ptd", "--external", "*=base.ptd")
        self.done("export", DIGITS, "-o", "m.pte", "--weight-keys", "name", *rules)
        (self.folder / "new.pt2").write_bytes(
            with_weights(DIGITS, noise, only=lambda fqn: fqn.endswith(".bias")))
        self.done("data", "build", "--from", "new.pt2", "--for", "m.pte", "-o", "b.ptd",
                  "--keys", "*.bias")
        self.export("new.pt2", "direct")
        first = self.done("run", "m.pte", "--data", "base.ptd", "--data", "a.ptd")
        second = self.done("run", "m.pte", "--data", "base.ptd", "--data", "b.ptd")
        self.assertNotEqual(first, second)
        self.done("export", DIGITS, "-o", "plain.pte")
        self.assertEqual(first, self.done("run", "plain.pte"))

    def test_what_does_not_agree_is_refused_by_name(self):
        self.export(DIGITS, "m")
        build = ("data", "build", "--for", "m.pte", "-o", "x.ptd", "--from")
        other = self.fails(*build, LAYERS / "attention.pt2")
        self.assertIn("weight '", other)
        self.assertIn("no method 'backward'", self.fails(*build, f"forward={DIGITS}", "--from",
                                                           f"backward={DIGITS}"))
        self.assertIn("method 'forward'", self.fails(*build, f"backward={DIGITS}"))
        self.assertIn("missing.pt2", self.fails(*build, "missing.pt2"))
        self.done("export", DIGITS, "-o", "c.pte", "--external-weights", "c.ptd")
        self.assertIn("--weight-keys name", self.fails("data", "build", "--for", "c.pte",
                                                       "-o", "x.ptd", "--from", DIGITS))
        self.assertIn("'zzz*'", self.fails(*build, DIGITS, "--keys", "zzz*"))
        self.assertFalse((self.folder / "x.ptd").exists())

    def test_wrong_layouts_are_refused_when_loading(self):
        for backend in ("xnnpack", "none"):
            self.export(DIGITS, "m", "--backend", backend)
            entries = json.loads(self.done("data", "list", "m.ptd", "--json"))["entries"]
            weight = max(entries, key=lambda e: e["bytes"])
            tensors = {e["key"]: (e["layout"]["sizes"], b"\0" * e["bytes"]) for e in entries}
            (self.folder / "w.safetensors").write_bytes(safetensors(tensors))
            self.done("run", "m.pte", "--data", "w.safetensors")
            tensors[weight["key"]] = ([weight["bytes"] // 4], b"\0" * weight["bytes"])
            (self.folder / "w.safetensors").write_bytes(safetensors(tensors))
            self.assertIn(weight["key"], self.fails("run", "m.pte", "--data", "w.safetensors"))
            del tensors[weight["key"]]
            (self.folder / "w.safetensors").write_bytes(safetensors(tensors))
            self.assertIn(weight["key"], self.fails("run", "m.pte", "--data", "w.safetensors"))

    def test_weights_of_a_safetensors_file(self):
        """Names and layouts are those of the model where nothing was folded."""
        model = LAYERS / "embedding.pt2"
        self.export(model, "m", "--backend", "none")
        wanted = self.done("run", "m.pte", "--data", "m.ptd")
        needed = [e["key"] for e in
                  json.loads(self.done("data", "list", "m.pte", "--json"))["entries"]
                  if e["place"] == "outside"]
        with zipfile.ZipFile(model) as archive:
            config = next(n for n in archive.namelist() if n.endswith("_weights_config.json"))
            weights = json.loads(archive.read(config))["config"]
            tensors = {}
            for key in needed:
                entry = weights[key]
                path = f"{config.rsplit('/', 1)[0]}/{entry['path_name']}"
                sizes = [size["as_int"] for size in entry["tensor_meta"]["sizes"]]
                tensors[key] = (sizes, archive.read(path))
        self.assertTrue(tensors)
        (self.folder / "m.safetensors").write_bytes(safetensors(tensors))
        self.assertEqual(self.done("run", "m.pte", "--data", "m.safetensors"), wanted)
        self.done("data", "merge", "m.pte", "m.safetensors", "-o", "in.pte")
        self.assertEqual(self.done("run", "in.pte"), wanted)

    def test_tensors_alone_give_what_the_archive_gives(self):
        """Where keys say all about how a weight is made of one tensor."""
        made, refused = 0, 0
        for model in [DIGITS, *sorted(LAYERS.glob("*.pt2"))]:
            for backend in ("xnnpack", "none"):
                self.export(model, "old", "--backend", backend)
                keys = [e["key"] for e in
                        json.loads(self.done("data", "list", "old.ptd", "--json"))["entries"]]
                if not keys:
                    continue
                (self.folder / "new.pt2").write_bytes(with_weights(model, noise))
                self.done("data", "build", "--from", "new.pt2", "--for", "old.pte", "-o", "a.ptd")
                names = {re.split("[@#]", key)[0] for key in keys}
                tensors = tensors_of(self.folder / "new.pt2", names)
                (self.folder / "w.safetensors").write_bytes(safetensors(tensors))
                build = ("data", "build", "--from", "w.safetensors", "--for", "old.pte", "-o",
                         "b.ptd")
                with self.subTest(model=model.name, backend=backend):
                    result = self.petrel(*build)
                    if result.returncode == 0:
                        self.assertEqual(self.bytes("b.ptd"), self.bytes("a.ptd"))
                        made += 1
                        continue
                    refused += 1
                    # Each that cannot be made is named, and the others can.
                    lines = result.stderr.splitlines()[1:]
                    self.assertTrue(all(re.search("needs the model|has no |program needs", line)
                                        for line in lines), result.stderr)
                    for key in keys:
                        is_made = "@" not in re.sub("@(permute|view)_[0-9_]+", "", key)
                        self.assertEqual(is_made and re.split("[@#]", key)[0] in tensors,
                                         not any(f"'{key}'" in line for line in lines), key)
        self.assertGreater(made, 12)
        self.assertGreater(refused, 4)

    def test_an_adapter_is_built_from_its_tensors_and_renamed(self):
        for backend in ("xnnpack", "none"):
            self.export(DIGITS, "m", "--backend", backend)
            (self.folder / "new.pt2").write_bytes(with_weights(DIGITS, noise))
            build = ("data", "build", "--for", "m.pte", "--keys", "score.*", "-o")
            self.done(*build, "a.ptd", "--from", "new.pt2")
            names = {"score.weight", "score.bias"}
            tensors = tensors_of(self.folder / "new.pt2", names)
            peft = {f"base_model.model.{n.replace('score', 'head')}": t
                    for n, t in tensors.items()}
            (self.folder / "peft.safetensors").write_bytes(safetensors(peft))
            rename = ("--rename", "base_model.model.=", "--rename", "head=score")
            self.done(*build, "b.ptd", "--from", "peft.safetensors", *rename)
            self.assertEqual(self.bytes("b.ptd"), self.bytes("a.ptd"))
            # A .ptd does as well, and what is given in vain is told.
            error = self.fails(*build, "c.ptd", "--from", "peft.safetensors")
            for name in names:
                self.assertIn(f"the file has no '{name}'", error)
            error = self.fails(*build, "c.ptd", "--from", "peft.safetensors", *rename[:3],
                               "head=score.x")
            self.assertIn("'score.x.bias': the program has no such weight", error)
            self.assertIn("must be FROM=TO", self.fails(*build, "c.ptd", "--from",
                                                        "peft.safetensors", "--rename", "head"))
            self.assertIn("of tensors only", self.fails(*build, "c.ptd", "--from", "new.pt2",
                                                        "--rename", "a=b"))
            short = {**tensors, "score.bias": ([5], b"\0" * 20)}
            (self.folder / "short.safetensors").write_bytes(safetensors(short))
            self.assertIn("the program needs f32[10]",
                          self.fails(*build, "c.ptd", "--from", "short.safetensors"))
            self.assertFalse((self.folder / "c.ptd").exists())

    def test_a_bound_program_takes_its_own_bytes_only(self):
        for keys in ("content", "name"):
            self.done("export", DIGITS, "-o", "m.pte", "--weight-keys", keys, "--bind-data",
                      "--external-weights", "m.ptd")
            self.done("run", "m.pte", "--data", "m.ptd")
            damaged = bytearray(self.bytes("m.ptd"))
            damaged[-1] ^= 1
            (self.folder / "x.ptd").write_bytes(damaged)
            self.assertIn("bound", self.fails("run", "m.pte", "--data", "x.ptd"))
            if keys == "name":
                self.assertIn("bound", self.fails("data", "build", "--from", DIGITS, "--for",
                                                  "m.pte", "-o", "y.ptd"))


if __name__ == "__main__":
    unittest.main()
