#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arena sizes of many models: ours, the lower bound and the ExecuTorch wheel's.

  arenas.py --petrel PATH --work DIR [--backend none|xnnpack ...] [MODEL ...]

Writes each model as .pt2 and exports it with the wheel and with Petrel; what
is in DIR already is used again. Prints a table of methods, and exits with 1
when an arena of ours is larger than the wheel's or than 1.05 times its bound. A
model that either side cannot export is told and makes the exit code 1, too.
State that methods share, such as a cache, counts on both sides and in the bound.

The models: those of test/models, and others of torchvision, timm and
transformers with random weights, which do not matter here. timm and
transformers are needed only for their own.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "models"))

import torch  # noqa: E402

import decoder  # noqa: E402
from models import MODELS  # noqa: E402

IMAGE = (1, 3, 224, 224)


def torchvision_model(name):
    def build():
        import torchvision_models  # noqa: F401, declares what the library lacks
        import torchvision.models

        options = {"init_weights": False} if name == "googlenet" else {}
        return getattr(torchvision.models, name)(weights=None, **options), (torch.randn(IMAGE),)

    return build


def timm_model(name):
    def build():
        import torchvision_models  # noqa: F401
        import timm

        return timm.create_model(name, pretrained=False), (torch.randn(IMAGE),)

    return build


def bert():
    import torchvision_models  # noqa: F401
    from transformers import BertConfig, BertModel

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = BertModel(BertConfig(
                vocab_size=1000, hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
                intermediate_size=512, attn_implementation="sdpa"))

        def forward(self, ids, mask):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    return Hidden(), (torch.ones(1, 64, dtype=torch.long), torch.ones(1, 64, dtype=torch.long))


def distilbert():
    import torchvision_models  # noqa: F401
    from transformers import DistilBertConfig, DistilBertModel

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = DistilBertModel(DistilBertConfig(
                vocab_size=1000, dim=128, n_layers=2, n_heads=2, hidden_dim=512))

        def forward(self, ids, mask):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    return Hidden(), (torch.ones(1, 64, dtype=torch.long), torch.ones(1, 64, dtype=torch.long))


MORE = {
    **{f"torchvision.{name}": torchvision_model(name) for name in (
        "alexnet", "squeezenet1_1", "mobilenet_v3_small", "shufflenet_v2_x1_0", "regnet_y_400mf",
        "googlenet", "densenet121", "convnext_tiny", "resnet50")},
    **{f"timm.{name}": timm_model(name) for name in ("vit_tiny_patch16_224", "resnet10t")},
    "transformers.bert": bert,
    "transformers.distilbert": distilbert,
}


def write_model(name: str, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The archive of each method; a single one has no name."""
    if name == "decoder":
        archives = {m: folder / f"decoder.{m}.pt2" for m in ("prefill", "decode")}
        if not all(path.exists() for path in archives.values()):
            for method, program in decoder.programs(decoder.MEDIUM).items():
                torch.export.save(program, archives[method])
        return archives
    path = folder / f"{name}.pt2"
    if not path.exists():
        torch.manual_seed(1)
        if name in MODELS:
            program = MODELS[name]().program()
        else:
            module, inputs = MORE[name]()
            program = torch.export.export(module.eval(), inputs)
        torch.export.save(program, path)
    return {"": path}


def run(command) -> str:
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or "failed").splitlines()[-1][:200])
    return done.stdout


def measure(args, name: str, backend: str):
    """(method, ours, bound, optimal, wheel's) of each method, in bytes."""
    archives = write_model(name, args.work)
    words = [f for method, path in archives.items()
             for f in (["--method", f"{method}={path}"] if method else [path])]
    wheel = args.work / f"{name}.{backend}.wheel.pte"
    if not wheel.exists():
        run([sys.executable, ROOT / "test/interop/wheel_export.py", *words,
             "--backend", backend, "-o", wheel])
    described = json.loads(run([args.petrel, "inspect", wheel, "--json"]))
    theirs = {method["name"]: sum(method["arenas"]) for method in described["methods"]}
    ours = args.work / f"{name}.{backend}.petrel.pte"
    report = json.loads(run([args.petrel, "export", *words, "--backend", backend, "--json",
                             "-o", ours]))
    state = report["state_bytes"]
    return [(method["name"], sum(method["arena_bytes"]) + state,
             method["arena_lower_bound_bytes"] + state, method["arena_optimal"],
             theirs[method["name"]])
            for method in report["methods"]]


def main() -> int:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--petrel", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--backend", action="append", choices=["none", "xnnpack"])
    names = [*MODELS, "decoder", *MORE]
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(names))
    args = parser.parse_args()
    for name in args.models:
        if name not in names:
            parser.error(f"unknown model '{name}', known: {', '.join(names)}")
    args.petrel = args.petrel.resolve()
    args.work.mkdir(parents=True, exist_ok=True)

    bad = 0
    print("| model | backend | arena | lower bound | arena / bound | the wheel's | of the wheel's |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in args.models or names:
        for backend in args.backend or ["none", "xnnpack"]:
            try:
                methods = measure(args, name, backend)
            except Exception as error:  # told, and the next model goes on
                print(f"| {name} | {backend} | {type(error).__name__}: {error} |", flush=True)
                bad += 1
                continue
            for method, ours, bound, optimal, theirs in methods:
                good = ours <= theirs and ours <= 1.05 * bound
                bad += not good
                full = name if len(methods) == 1 else f"{name}.{method}"
                print(f"| {full} | {backend} | {ours:,} | {bound:,} | "
                      f"{ours / max(bound, 1):.3f}{' proven' if optimal else ''} | {theirs:,} | "
                      f"{100 * ours / max(theirs, 1):.1f} %{'' if good else ' (worse)'} |",
                      flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
