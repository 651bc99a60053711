# SPDX-License-Identifier: Apache-2.0
"""The networks that are compared with the wheel, as methods and calls.

  network = networks.load(interop.models, ["resnet50", "decoder"])["decoder"]
  network.methods      # {"prefill": decoder.prefill.pt2, "decode": decoder.decode.pt2}
  network.calls        # what is run in one process, in order, with what eager torch makes of it
  network.timed        # {"decoder.prefill": Call, "decoder.decode": Call}
  network.stateless    # the same for engines without state: archive and calls by table
  networks.load(folder, ["my/model.pt2"])["model"]   # any archive that says its example inputs

Most have one method, `forward`, called with two inputs. The decoder's calls are
its prompt and the tokens after it, each with the token that eager torch chose
before, so that a wrong cache shows in the logits of a later call. An archive is
called with its example inputs, twice; what it computes is what torch makes of it.
"""

import argparse
import dataclasses
import pathlib
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent / "models"
NAMES = ["digits", "mlp", "mobilenet_v2", "resnet18", "vit_tiny", "minilm", "decoder", "lstm",
         "resnet50", "efficientnet_b0"]
DECODED = 6  # tokens after the prompt


@dataclasses.dataclass
class Call:
    method: str
    inputs: list[pathlib.Path]
    expected: list[np.ndarray]
    min_db: float | None = None  # of integers; else agreement.py's bounds

    @property
    def word(self) -> str:
        return f"{self.method}:" + ",".join(map(str, self.inputs))


@dataclasses.dataclass
class Stateless:
    """A method whose state, if any, goes in and comes out."""

    archive: pathlib.Path
    calls: list[Call]


@dataclasses.dataclass
class Network:
    name: str
    methods: dict[str, pathlib.Path]
    calls: list[Call]
    stateless: dict[str, Stateless]

    @property
    def timed(self) -> dict[str, Call]:
        """The first call of each method, by the name of its table."""
        first: dict[str, Call] = {}
        for call in self.calls:
            alone = len(self.methods) == 1
            first.setdefault(self.name if alone else f"{self.name}.{call.method}", call)
        return first


def name(word: str) -> str:
    """The `type` of an argument of a command: a name of NAMES or an archive."""
    if word not in NAMES and not (word.endswith(".pt2") and pathlib.Path(word).is_file()):
        raise argparse.ArgumentTypeError(
            f"'{word}' is no .pt2 file and none of {', '.join(NAMES)}")
    return word


HELP = f"{', '.join(NAMES)} or an archive MODEL.pt2"


def _single(folder: pathlib.Path, name: str) -> Network:
    def files(kind: str, example: int) -> list[pathlib.Path]:
        count = len(list(folder.glob(f"{name}.{kind}_{example}_*.npy")))
        return [folder / f"{name}.{kind}_{example}_{i}.npy" for i in range(count)]

    calls = [Call("forward", files("input", e), [np.load(f) for f in files("output", e)])
             for e in range(2)]
    archive = folder / f"{name}.pt2"
    return Network(name, {"forward": archive}, calls, {name: Stateless(archive, calls)})


def _archive(folder: pathlib.Path, path: pathlib.Path) -> Network:
    import torch

    program = torch.export.load(path)
    if program.example_inputs is None:
        raise SystemExit(f"{path}: has no example inputs")
    args, kwargs = program.example_inputs

    def saved(kind: str, values: object) -> list[pathlib.Path]:
        files = []
        for i, value in enumerate(torch.utils._pytree.tree_leaves(values)):
            if not isinstance(value, torch.Tensor):
                raise SystemExit(f"{path}: {kind} {i} is not a tensor but {value!r}")
            files.append(folder / f"{path.stem}.{kind}_0_{i}.npy")
            np.save(files[-1], value.detach().numpy())
        return files

    # Called twice, with the state that the first call left.
    inputs = saved("input", (args, kwargs))
    module = program.module()
    calls = []
    with torch.no_grad():
        for _ in range(2):
            outputs = saved("output", module(*args, **kwargs))
            calls.append(Call("forward", inputs, [np.load(f) for f in outputs]))
    return Network(path.stem, {"forward": path}, calls, {path.stem: Stateless(path, calls)})


def _decoder(folder: pathlib.Path) -> Network:
    import torch

    sys.path.append(str(MODELS))
    import decoder

    size = decoder.MEDIUM
    methods = {}
    for method, program in decoder.programs(size).items():
        methods[method] = folder / f"decoder.{method}.pt2"
        torch.export.save(program, methods[method])
    eager = decoder.generate(size, DECODED + 1)

    def saved(name: str, array: np.ndarray) -> pathlib.Path:
        np.save(folder / f"decoder.{name}.npy", array)
        return folder / f"decoder.{name}.npy"

    def expected(i: int) -> list[np.ndarray]:
        return [eager.logits[i:i + 1].numpy(), eager.tokens[:, i:i + 1].numpy()]

    calls = [Call("prefill", [saved("prompt", eager.prompt.numpy())], expected(0))]
    for i in range(DECODED):
        token = saved(f"token_{i}", eager.tokens[:, i:i + 1].numpy())
        at = saved(f"position_{i}", np.array([size.prompt + i]))
        calls.append(Call("decode", [token, at], expected(i + 1)))
    return Network("decoder", methods, calls, _stateless_decoder(decoder, saved, folder))


def _stateless_decoder(decoder, saved, folder: pathlib.Path) -> dict[str, Stateless]:
    import torch

    size = decoder.MEDIUM
    prefill, decode, prompt = decoder.make(size)
    token = torch.zeros(1, 1, dtype=torch.int64)
    steps = {"prefill": (prefill, (prompt,)),
             "decode": (decode, (token, torch.tensor([size.prompt])))}
    found = {}
    with torch.no_grad():
        for name, (method, inputs) in steps.items():
            module = decoder.Stateless(method).eval()
            if name == "decode":  # after the prompt, which the same modules have seen
                inputs = (token_after_prompt, inputs[1])
            cache = module.cache()
            archive = folder / f"decoder.{name}.stateless.pt2"
            torch.export.save(torch.export.export(module, (inputs, cache)), archive)
            expected = [y.numpy() for y in module(inputs, cache)]
            files = [saved(f"{name}.stateless_{i}", x.numpy())
                     for i, x in enumerate([*inputs, *cache])]
            found[f"decoder.{name}"] = Stateless(archive, [Call(name, files, expected)])
            if name == "prefill":
                token_after_prompt = prefill(prompt)[1]
    return found


def load(folder: pathlib.Path, names: list[str]) -> dict[str, Network]:
    """Writes archives, inputs and expected outputs into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    single = [name for name in names if name != "decoder" and name in NAMES]
    if single:
        words = [sys.executable, MODELS / "export_models.py", "--out", folder, *single]
        subprocess.run([str(w) for w in words], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    found = {}
    for name in names:
        if name == "decoder":
            found[name] = _decoder(folder)
        elif name in NAMES:
            found[name] = _single(folder, name)
        else:
            network = _archive(folder, pathlib.Path(name).resolve())
            if network.name in found:
                raise SystemExit(f"two networks are called {network.name}")
            found[network.name] = network
    return found
