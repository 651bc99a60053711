# SPDX-License-Identifier: Apache-2.0
"""The list of quantised programs, by name.

  program = make("residual_channel")

Random numbers have the name's own seed, so that a program is the same alone and among others.
"""

import copy
import functools
import zlib
from typing import Callable

import torch
from torch.export import Dim
from torchao.quantization import MappingType
from torchao.quantization.granularity import PerRow, PerTensor
from torchao.quantization.quant_api import Int8WeightOnlyConfig

import quantised_moves as moved
import quantised_networks as nets
from quantised_programs import (
    DYNAMIC,
    WEIGHTS,
    Program,
    bfloat16,
    bfloat16_levels,
    border,
    dynamic_channel,
    dynamic_tensor,
    half,
    half_dynamic,
    half_levels,
    methods,
    of_groups,
    of_integers,
    of_rows,
    of_tokens,
    only,
    only_weights,
    static_channel,
    static_qat,
    static_tensor,
    symmetric,
    tokens,
    torchao,
    unsigned,
)

IMAGE, ODD, SOUND = (1, 3, 17, 13), (3, 3, 11, 9), (1, 13, 41)
CELL = ((2, 3, 10), (2, 24), (2, 24))


def pruned(network) -> Callable[[], torch.nn.Module]:
    return lambda: nets.with_zero_channels(network())


def wide() -> torch.nn.Module:
    return nets.Perceptron((256, 128, 128, 40))


def tied() -> torch.nn.Module:
    return nets.Decoder(tied=True)


BATCH, LENGTH = Dim("batch", min=1, max=8), Dim("length", min=2, max=30)

STATIC: dict[str, Callable[[], Program]] = {
    "residual_tensor": lambda: static_tensor(nets.Residual, IMAGE),
    "residual_channel": lambda: static_channel(nets.Residual, IMAGE),
    "residual_qat": lambda: static_qat(nets.Residual, ODD),
    "residual_pruned": lambda: static_channel(pruned(nets.Residual), IMAGE),
    "mobile_tensor": lambda: static_tensor(nets.Mobile, ODD),
    "mobile_channel": lambda: static_channel(nets.Mobile, (2, 3, 16, 20)),
    "mobile_qat": lambda: static_qat(nets.Mobile, IMAGE),
    "excite_channel": lambda: static_channel(nets.Excite, IMAGE),
    "excite_tensor": lambda: static_tensor(nets.Excite, ODD),
    "unet_channel": lambda: static_channel(nets.UNet, (1, 1, 12, 20)),
    "unet_tensor": lambda: static_tensor(nets.UNet, (2, 1, 10, 6)),
    "upscale_channel": lambda: static_channel(nets.Upscale, (3, 9)),
    "upscale_tensor": lambda: static_tensor(nets.Upscale, (1, 9)),
    "groups_up_channel": lambda: static_channel(nets.GroupsUp, IMAGE),
    "lines_channel": lambda: static_channel(nets.Lines, (2, 5, 33)),
    "filters_channel": lambda: static_channel(nets.Filters, (2, 6, 9, 14)),
    "filters_tensor": lambda: static_tensor(nets.Filters, (1, 6, 8, 11)),
    "pyramid_channel": lambda: static_channel(nets.Pyramid, (1, 3, 22, 18)),
    "shuffle_channel": lambda: static_channel(nets.Shuffle, (2, 3, 7, 10)),
    "dense_tensor": lambda: static_tensor(nets.Dense, (1, 3, 10, 14)),
    "dense_channel": lambda: static_channel(nets.Dense, (2, 3, 9, 9)),
    "twins_channel": lambda: static_channel(nets.Twins, ODD, ODD),
    "join_tensor": lambda: static_tensor(nets.Join, IMAGE, (1, 5, 17, 13)),
    "perceptron_tensor": lambda: static_tensor(nets.Perceptron, (5, 33)),
    "perceptron_channel": lambda: static_channel(nets.Perceptron, (2, 3, 33)),
    "perceptron_pruned": lambda: static_channel(pruned(nets.Perceptron), (1, 33)),
    "perceptron_qat": lambda: static_qat(nets.Perceptron, (4, 33)),
    "speech_channel": lambda: static_channel(nets.Speech, SOUND),
    "speech_tensor": lambda: static_tensor(nets.Speech, (2, 13, 30)),
    "separable_channel": lambda: static_channel(nets.Separable, (2, 10, 25)),
    "recurrent_channel": lambda: static_channel(nets.Recurrent, *CELL),
    "encoder_tensor": lambda: static_tensor(nets.Encoder, (1, 9, 32)),
    "encoder_channel": lambda: static_channel(nets.Encoder, (2, 7, 32)),
    "arithmetic_channel": lambda: static_channel(nets.Arithmetic, (2, 3, 7, 9)),
    "moves_channel": lambda: static_channel(nets.Moves, (2, 4, 6, 9)),
    "pools_channel": lambda: static_channel(nets.Pools, IMAGE),
    "slopes_channel": lambda: static_channel(nets.Slopes, (1, 6, 9, 7)),
    "wave_channel": lambda: static_channel(nets.Wave, (2, 1, 64)),
    "gated_channel": lambda: static_channel(nets.Gated, (3, 2, 12), (3, 20)),
    "mobile_border": lambda: border(static_tensor(nets.Mobile, (2, 3, 16, 20))),
    "perceptron_varying": lambda: static_channel(nets.Perceptron, (3, 33), shapes=({0: BATCH},)),
    "residual_varying": lambda: static_channel(nets.Residual, ODD, shapes=({0: BATCH},)),
    "residual_border": lambda: border(static_channel(nets.Residual, IMAGE)),
    "perceptron_border": lambda: border(static_tensor(nets.Perceptron, (5, 33))),
    "unet_border": lambda: border(static_channel(nets.UNet, (1, 1, 8, 12))),
    "residual_symmetric": lambda: symmetric(nets.Residual, IMAGE),
    "encoder_symmetric": lambda: symmetric(nets.Encoder, (1, 9, 32)),
    "residual_unsigned": lambda: unsigned(nets.Residual, IMAGE),
    "perceptron_unsigned": lambda: unsigned(nets.Perceptron, (5, 33)),
    "residual_layers_alone": lambda: only(nets.Residual, IMAGE, Linear=False),
    "residual_images_alone": lambda: only(nets.Residual, IMAGE, Conv2d=False),
    "heads_channel": lambda: static_channel(nets.Heads, (2, 7, 32)),
    "layer_channel": lambda: static_channel(nets.layer, (2, 7, 32)),
    "moved_channel": lambda: static_channel(moved.Moved, (1, 3, 9, 10)),
    "moved_tensor": lambda: static_tensor(moved.Moved, (2, 3, 9, 10)),
    "moved_border": lambda: border(static_channel(moved.Moved, (1, 3, 9, 10))),
    "windows_channel": lambda: static_channel(moved.Windows, (1, 8, 8, 24)),
    "two_methods_channel": lambda: methods(
        image=static_channel(nets.Residual, IMAGE), sound=static_channel(nets.Speech, SOUND)),
}

AT_RUN_TIME: dict[str, Callable[[], Program]] = {
    "perceptron_dynamic": lambda: dynamic_channel(nets.Perceptron, (5, 33)),
    "perceptron_dynamic_tensor": lambda: dynamic_tensor(nets.Perceptron, (1, 33)),
    "perceptron_dynamic_rank4": lambda: dynamic_channel(nets.Perceptron, (2, 3, 4, 33)),
    "perceptron_dynamic_varying": lambda: dynamic_channel(
        nets.Perceptron, (3, 33), shapes=({0: BATCH},)),
    "encoder_dynamic": lambda: dynamic_channel(nets.Encoder, (2, 7, 32)),
    "encoder_dynamic_tensor": lambda: dynamic_tensor(nets.Encoder, (1, 5, 32)),
    "recurrent_dynamic": lambda: dynamic_channel(nets.Recurrent, *CELL),
    "residual_dynamic": lambda: dynamic_channel(nets.Residual, IMAGE),
    # Which of two levels a number gets decides on few outputs: of 16 batches, sooner on the mean.
    "mobile_dynamic": lambda: dynamic_channel(nets.Mobile, ODD, count=16),
    "unet_dynamic": lambda: dynamic_channel(nets.UNet, (1, 1, 12, 20)),
    "speech_dynamic": lambda: dynamic_channel(nets.Speech, SOUND),
    "wave_dynamic": lambda: dynamic_channel(nets.Wave, (1, 1, 48)),
    "filters_dynamic": lambda: dynamic_channel(nets.Filters, (2, 6, 9, 14)),
    "upscale_dynamic": lambda: dynamic_channel(nets.Upscale, (2, 9)),
    "gated_dynamic": lambda: dynamic_channel(nets.Gated, (3, 2, 12), (3, 20)),
    "residual_mixed": lambda: only(nets.Residual, IMAGE, kind=DYNAMIC, Linear=True, Conv2d=False),
    "windows_dynamic": lambda: dynamic_channel(moved.Windows, (1, 8, 8, 24)),
    "windows_8da8w": lambda: torchao(moved.Windows, (2, 8, 8, 24), linear=of_rows(8)),
    "heads_dynamic": lambda: dynamic_channel(nets.Heads, (2, 7, 32)),
    "gated_8da8w": lambda: torchao(nets.Gated, (3, 2, 12), (3, 20), linear=of_rows(8)),
    "perceptron_8da8w": lambda: torchao(nets.Perceptron, (5, 33), linear=of_rows(8)),
    "perceptron_8da4w": lambda: torchao(nets.Perceptron, (2, 3, 33), linear=of_rows(4)),
    "pruned_8da8w": lambda: torchao(pruned(nets.Perceptron), (4, 33), linear=of_rows(8)),
    "pruned_8da4w_32": lambda: torchao(pruned(nets.Encoder), (1, 6, 32), linear=of_groups(4, 32)),
    "encoder_8da4w_32": lambda: torchao(nets.Encoder, (1, 9, 32), linear=of_groups(4, 32)),
    "encoder_8da8w_32": lambda: torchao(nets.Encoder, (1, 9, 32), linear=of_groups(8, 32)),
    "wide_8da4w_64": lambda: torchao(wide, (3, 256), linear=of_groups(4, 64)),
    "wide_8da4w_128": lambda: torchao(wide, (2, 2, 256), linear=of_groups(4, 128)),
    "wide_8da3w_32": lambda: torchao(wide, (3, 256), linear=of_groups(3, 32)),
    "wide_8da4w_zeros_32": lambda: torchao(
        wide, (3, 256), linear=of_groups(4, 32, MappingType.ASYMMETRIC)),
    "wide_8da8w_zeros": lambda: torchao(
        wide, (2, 2, 256), linear=of_rows(8, MappingType.ASYMMETRIC)),
    "wide_integers": lambda: torchao(wide, (3, 256), linear=of_integers()),
    "wide_integers_whole": lambda: torchao(
        wide, (3, 256), linear=of_integers(granularity=[PerRow(), PerTensor()])),
    "encoder_integers": lambda: torchao(
        nets.Encoder, (2, 7, 32), linear=of_integers(MappingType.ASYMMETRIC)),
    "next_dynamic": lambda: dynamic_channel(nets.Next, (1, 3, 20, 24)),
    "memory_dynamic": lambda: dynamic_channel(nets.Memory, (2, 5, 13)),
    "wide_8da2w_32": lambda: torchao(wide, (3, 256), linear=of_groups(2, 32)),
    "recurrent_8da8w": lambda: torchao(nets.Recurrent, *CELL, linear=of_rows(8)),
    "encoder_8da8w_varying": lambda: torchao(
        nets.Encoder, (2, 7, 32), linear=of_rows(8), shapes=({0: BATCH, 1: LENGTH},)),
    "decoder_8da4w_table8": lambda: of_tokens(
        nets.Decoder, (1, 9), (1, 9), linear=of_groups(4, 32), table=only_weights(8)),
    "decoder_8da4w_table4": lambda: of_tokens(
        nets.Decoder, (2, 5), (2, 5), linear=of_groups(4, 64), table=only_weights(4, 32)),
    "decoder_8da8w_table2": lambda: of_tokens(
        nets.Decoder, (1, 6), (1, 6), linear=of_rows(8), table=only_weights(2, 32)),
    "decoder_tied": lambda: of_tokens(
        tied, (1, 6), (1, 6), linear=of_rows(8), table=only_weights(8)),
    "decoder_two_methods": lambda: _prefill_and_decode(),
    "decoder_bfloat16_8da4w": lambda: bfloat16_levels(
        nets.Decoder, tokens(40, (1, 9), (1, 9)), of_groups(4, 32), only_weights(4, 32)),
    "decoder_bfloat16_8da8w": lambda: bfloat16_levels(
        nets.Decoder, tokens(40, (1, 9), (1, 9)), of_rows(8), only_weights(8)),
    "decoder_bfloat16_integers": lambda: bfloat16_levels(
        nets.Decoder, tokens(40, (1, 9), (1, 9)), of_integers()),
    "decoder_half_integers": lambda: half_levels(
        nets.Decoder, batches=tokens(40, (1, 9), (1, 9)), linear=of_integers()),
    "wide_half_integers": lambda: half_levels(
        wide, (3, 256), linear=of_integers(MappingType.ASYMMETRIC)),
    "wide_half_8da4w_32": lambda: half_levels(wide, (2, 3, 256), linear=of_groups(4, 32)),
    "wide_half_8da4w": lambda: half_levels(wide, (3, 256), linear=of_rows(4)),
    "wide_half_8da8w": lambda: half_levels(wide, (3, 256), linear=of_rows(8)),
    "encoder_half_8da4w_32": lambda: half_levels(nets.Encoder, (1, 9, 32), linear=of_groups(4, 32)),
    "perceptron_half_dynamic": lambda: half_dynamic(nets.Perceptron, (5, 33)),
    "residual_half_dynamic": lambda: half_dynamic(nets.Residual, IMAGE),
    "filters_half_dynamic": lambda: half_dynamic(nets.Filters, (2, 6, 9, 14)),
}

STORED: dict[str, Callable[[], Program]] = {
    "perceptron_int8": lambda: torchao(nets.Perceptron, (5, 33), linear=only_weights(8), kind=WEIGHTS),
    "wide_int8_cast": lambda: torchao(wide, (3, 256), linear=Int8WeightOnlyConfig(), kind=WEIGHTS),
    "wide_int8_whole": lambda: torchao(
        wide, (2, 2, 256), linear=Int8WeightOnlyConfig(granularity=PerTensor()), kind=WEIGHTS),
    "perceptron_int4": lambda: torchao(nets.Perceptron, (5, 33), linear=only_weights(4), kind=WEIGHTS),
    "wide_int4_32": lambda: torchao(wide, (3, 256), linear=only_weights(4, 32), kind=WEIGHTS),
    "wide_int4_64": lambda: torchao(wide, (1, 256), linear=only_weights(4, 64), kind=WEIGHTS),
    "wide_int4_128": lambda: torchao(wide, (2, 256), linear=only_weights(4, 128), kind=WEIGHTS),
    "encoder_int8_32": lambda: torchao(nets.Encoder, (2, 7, 32), linear=only_weights(8, 32),
                                       kind=WEIGHTS),
    "table_8bit": lambda: of_tokens(nets.Table, (2, 7), (2, 7), table=only_weights(8)),
    "table_8bit_32": lambda: of_tokens(nets.Table, (1, 7), (1, 7), table=only_weights(8, 32)),
    "table_4bit": lambda: of_tokens(nets.Table, (2, 7), (2, 7), table=only_weights(4)),
    "table_4bit_32": lambda: of_tokens(nets.Table, (1, 7), (1, 7), table=only_weights(4, 32)),
    "table_2bit": lambda: of_tokens(nets.Table, (3, 4), (3, 4), table=only_weights(2)),
    "table_2bit_32": lambda: of_tokens(nets.Table, (3, 4), (3, 4), table=only_weights(2, 32)),
    "bag_table8": lambda: of_tokens(nets.Bag, (4, 5), (4, 5), table=only_weights(8)),
    "bag_table4": lambda: of_tokens(nets.Bag, (4, 5), (4, 5), table=only_weights(4, 32)),
}

HALVES: dict[str, Callable[[], Program]] = {
    "residual_half": lambda: half(nets.Residual, IMAGE),
    "mobile_half": lambda: half(nets.Mobile, (2, 3, 16, 20)),
    "unet_half": lambda: half(nets.UNet, (1, 1, 12, 20)),
    "filters_half": lambda: half(nets.Filters, (2, 6, 9, 14)),
    "speech_half": lambda: half(nets.Speech, SOUND),
    "upscale_half": lambda: half(nets.Upscale, (2, 9)),
    "slopes_half": lambda: half(nets.Slopes, (1, 6, 9, 7)),
    "arithmetic_half": lambda: half(nets.Arithmetic, (2, 3, 7, 9)),
    "moves_half": lambda: half(nets.Moves, (2, 4, 6, 9)),
    "next_half": lambda: half(nets.Next, (1, 3, 20, 24)),
    "pools_half": lambda: half(nets.Pools, IMAGE),
    "perceptron_half": lambda: half(nets.Perceptron, (5, 33)),
    "recurrent_half": lambda: half(nets.Recurrent, *CELL),
    "encoder_half": lambda: half(nets.Encoder, (2, 7, 32)),
    "decoder_half": lambda: half(nets.Decoder, batches=tokens(40, (1, 9), (1, 9))),
}

BFLOATS: dict[str, Callable[[], Program]] = {
    "residual_bfloat16": lambda: bfloat16(nets.Residual, IMAGE),
    "mobile_bfloat16": lambda: bfloat16(nets.Mobile, (2, 3, 16, 20)),
    "slopes_bfloat16": lambda: bfloat16(nets.Slopes, (1, 6, 9, 7)),
    "perceptron_bfloat16": lambda: bfloat16(nets.Perceptron, (5, 33)),
    "encoder_bfloat16": lambda: bfloat16(nets.Encoder, (2, 7, 32)),
    "decoder_bfloat16": lambda: bfloat16(nets.Decoder, batches=tokens(40, (1, 9), (1, 9))),
}

PROGRAMS = STATIC | AT_RUN_TIME | STORED | HALVES | BFLOATS


def _prefill_and_decode() -> Program:
    """One network, quantised twice from the same floats."""
    fresh = functools.partial(copy.deepcopy, nets.Decoder())
    options = {"linear": of_groups(4, 32), "table": only_weights(4, 32)}
    return methods(prefill=of_tokens(fresh, (1, 9), (1, 9), **options),
                   decode=of_tokens(fresh, (1, 1), (1, 1), **options))


def make(name: str) -> Program:
    torch.manual_seed(zlib.crc32(name.encode()))
    return PROGRAMS[name]()
