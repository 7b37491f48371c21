"""The models: torchvision's vision transformer, fed with bytes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import torch
from torch.utils.checkpoint import checkpoint
from torchvision.models import VisionTransformer

# ImageNet's mean and deviation per channel, of pixels in 0..1, as published with its first models.
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Shape:
    """A transformer's sizes. B, S and Ti are those of Dosovitskiy 2020 and Touvron 2020; toy is for tests."""

    side: int
    patch: int
    layers: int
    heads: int
    width: int


SHAPES = {
    "vit-b16": Shape(224, 16, 12, 12, 768),
    "vit-s16": Shape(224, 16, 12, 6, 384),
    "vit-ti16": Shape(224, 16, 12, 3, 192),
    "vit-toy": Shape(32, 8, 2, 4, 64),
}


class ImageTransformer(VisionTransformer):
    """Takes uint8 images of (batch, side, side, 3). Its state has torchvision's names."""

    scale: torch.Tensor
    shift: torch.Tensor

    def __init__(self, shape: Shape, *, side: int, classes: int, recompute: bool) -> None:
        super().__init__(
            image_size=side,
            patch_size=shape.patch,
            num_layers=shape.layers,
            num_heads=shape.heads,
            hidden_dim=shape.width,
            mlp_dim=4 * shape.width,
            num_classes=classes,
        )
        if recompute:
            self.encoder.layers = Recomputed(OrderedDict(self.encoder.layers.named_children()))
        deviation = torch.tensor(DEVIATION).view(3, 1, 1)
        self.register_buffer("scale", 1 / (255 * deviation), persistent=False)
        self.register_buffer("shift", -torch.tensor(MEAN).view(3, 1, 1) / deviation, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.permute(0, 3, 1, 2) * self.scale + self.shift)


class Recomputed(torch.nn.Sequential):
    """Keeps only what goes in and out of each layer; the rest is computed again going backward."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        for layer in self:
            input = checkpoint(layer, input, use_reentrant=False) if self.training else layer(input)
        return input


def side_of(name: str, given: int | None) -> int:
    return given or SHAPES[name].side


def side_fault(name: str, given: int | None) -> str | None:
    """What is wrong with an image side for this model."""
    patch = SHAPES[name].patch
    side = side_of(name, given)
    return None if side % patch == 0 else f"--side: given {side}, expected a multiple of {patch} for {name}"


def build(name: str, *, side: int, classes: int, recompute: bool = False) -> ImageTransformer:
    """A new model with random weights."""
    return ImageTransformer(SHAPES[name], side=side, classes=classes, recompute=recompute)


def parameter_groups(model: torch.nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """AdamW's: matrices decay, biases, norms, the class token and positions don't."""
    named = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
    kept = [name.endswith(("class_token", "pos_embedding")) or one.ndim < 2 for name, one in named]
    return [
        {
            "params": [one for (_, one), keep in zip(named, kept, strict=True) if not keep],
            "weight_decay": weight_decay,
        },
        {"params": [one for (_, one), keep in zip(named, kept, strict=True) if keep], "weight_decay": 0.0},
    ]
