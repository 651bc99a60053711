# SPDX-License-Identifier: Apache-2.0
"""The forty networks of `test/perf/peers --forty`, chosen before they were timed.

  path = forty.archive("ghostnet_100", folder)   # written if it is not there, or Failed

Families of torchvision and timm, encoders of text and sound, a decoder with its cache,
recurrent networks, U-Nets of three widths, super-resolution, a detector. Weights are random
and seeded; statistics of batch norms are spread, so that nothing is folded to nothing. An
archive is written by a process of its own:

  forty.py NAME OUT.pt2
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

from command import command  # noqa: E402

SEED = 7

# Name -> side of its image. The models are random: no file is loaded.
TORCHVISION = {
    "alexnet": 224, "convnext_tiny": 160, "densenet121": 160, "efficientnet_v2_s": 160,
    "googlenet": 192, "mnasnet1_0": 224, "mobilenet_v3_large": 224, "regnet_y_400mf": 224,
    "resnext50_32x4d": 160, "shufflenet_v2_x1_0": 224, "squeezenet1_1": 224, "vgg11_bn": 128,
}
TIMM = {
    "cspresnet50": 160, "deit_tiny_patch16_224": 224, "edgenext_xx_small": 224,
    "efficientvit_b0": 224, "ghostnet_100": 224, "hardcorenas_a": 224, "hrnet_w18_small": 160,
    "levit_128s": 224, "mixer_s32_224": 224, "mobileone_s0": 224, "mobilevitv2_050": 224,
    "poolformer_s12": 160, "regnetx_004": 224, "repvgg_a0": 192, "res2net50_14w_8s": 160,
    "swin_tiny_patch4_window7_224": 224, "tf_mixnet_s": 224, "xcit_nano_12_p16_224": 224,
}
# Of peer_networks.MAKERS: the sizes of its input. Two sizes are those of tokens.
OWN = {
    "unet_16": (1, 3, 128, 128), "unet_32": (1, 3, 96, 96), "unet_64": (1, 3, 64, 64),
    "super_resolution": (1, 3, 80, 80), "detector": (1, 3, 192, 192),
    "text_encoder_50": (1, 50), "sound_encoder": (1, 1, 8000),
    "gru": (1, 60, 40), "lstm_both_ways": (1, 40, 40),
}
# Of test/models, with the methods and state that an archive does not have.
NAMED = ["decoder"]
NAMES = [*TORCHVISION, *TIMM, *OWN, *NAMED]
assert len(NAMES) == 40


def archive(name: str, folder: pathlib.Path) -> pathlib.Path:
    """NAME.pt2 in `folder`."""
    path = folder / f"{name}.pt2"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command(sys.executable, __file__, name, path)
    return path


def _make(name: str):  # an nn.Module
    if name in TORCHVISION:
        import torchvision.models

        plain = {"init_weights": False, "aux_logits": False} if name == "googlenet" else {}
        return torchvision.models.get_model(name, weights=None, **plain)
    if name in TIMM:
        import timm

        return timm.create_model(name, pretrained=False)
    import peer_networks

    return peer_networks.MAKERS[name]()


def _spread(module, example) -> None:
    """Scales the last weights of random networks whose outputs would all but be constants."""
    import torch

    made = module(example)
    deviation = min(float(y.std()) for y in (made if isinstance(made, tuple) else (made,)))
    last = [m.weight for m in module.modules()
            if isinstance(m, (torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d))][-1]
    if deviation == 0:  # some begin with a last layer of zeros
        torch.nn.init.normal_(last, 0, 0.1)
    elif deviation < 0.1:
        last.mul_(0.5 / deviation)


def _write(name: str, path: pathlib.Path) -> None:
    import torch

    sys.path.append(str(HERE.parent / "models"))
    import torchvision_models  # noqa: F401  before timm

    torch.manual_seed(SEED)
    module = _make(name).eval()
    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            torch.nn.init.uniform_(part.running_var, 0.5, 1.5)
            torch.nn.init.normal_(part.running_mean, 0, 0.1)
            # Branches that begin with a factor of zero some converters leave out.
            torch.nn.init.uniform_(part.weight, 0.5, 1.5)
    side = {**TORCHVISION, **TIMM}.get(name)
    sizes = (1, 3, side, side) if side else OWN[name]
    example = torch.randint(0, 8000, sizes) if len(sizes) == 2 else torch.randn(sizes)
    with torch.no_grad():
        _spread(module, example)
        program = torch.export.export(module, (example,))
    scratch = path.with_suffix(".part")
    with scratch.open("wb") as file:
        torch.export.save(program, file)
    scratch.rename(path)


if __name__ == "__main__":
    _write(sys.argv[1], pathlib.Path(sys.argv[2]))
