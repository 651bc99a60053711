# SPDX-License-Identifier: Apache-2.0
"""torchvision's model builders beside a CPU build of torch.

torchvision's compiled operators are linked against another build of torch and
do not load. Its import only needs two of them to be declared, and none of the
models used here calls them. Import this module before any that imports
torchvision, as timm and transformers do.
"""

import torch

_library = torch.library.Library("torchvision", "FRAGMENT")
for _schema in (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
):
    if not hasattr(torch.ops.torchvision, _schema.split("(")[0]):
        _library.define(_schema)

from torchvision.models import (  # noqa: E402
    efficientnet_b0,
    mobilenet_v2,
    resnet18,
    resnet50,
)

__all__ = ["efficientnet_b0", "mobilenet_v2", "resnet18", "resnet50"]
