# SPDX-License-Identifier: Apache-2.0
"""Functions of recurrent layers."""

import torch

from passes.traced import emit, rand


def weights(gates, hidden, cells, biases=True, projection=0):
    """Weights of input, state and biases per layer and direction."""
    out = []
    for size in cells:
        out += [rand(gates * hidden, size), rand(gates * hidden, projection or hidden)]
        if biases:
            out += [rand(gates * hidden), rand(gates * hidden)]
        if projection:
            out += [rand(projection, hidden)]
    return out


def layers():
    sequence, state = rand(4, 2, 3), rand(1, 2, 5)
    emit("lstm", lambda x, h, *w: torch.lstm(x, (h, h * 2), w, True, 1, 0.0, False, False, False),
         sequence, state, *weights(4, 5, [3]))
    emit("lstm_two_layers_both_ways", lambda x, h, *w: torch.lstm(
        x, (h, h + 1), w, True, 2, 0.0, False, True, True),
        rand(2, 3, 3), rand(4, 2, 5), *weights(4, 5, [3, 3, 10, 10]))
    emit("lstm_projected_without_biases", lambda x, h, c, *w: torch.lstm(
        x, (h, c), w, False, 1, 0.0, False, False, False),
        sequence, rand(1, 2, 2), state, *weights(4, 5, [3], biases=False, projection=2))
    emit("gru", lambda x, h, *w: torch.gru(x, h, w, True, 2, 0.0, False, True, False),
         sequence, rand(4, 2, 5), *weights(3, 5, [3, 3, 10, 10]))
    emit("gru_without_biases", lambda x, h, *w: torch.gru(
        x, h, w, False, 1, 0.0, False, False, False), sequence, state,
        *weights(3, 5, [3], biases=False))
    emit("simple_recurrent", lambda x, h, *w: (
        *torch.rnn_tanh(x, h, w, True, 1, 0.0, False, False, False),
        *torch.rnn_relu(x, h, w, True, 1, 0.0, False, False, False)),
        sequence, state, *weights(1, 5, [3]))
    emit("recurrent_cells", lambda x, h, wi, wh, bi, bh: (
        *torch.lstm_cell(x, (h, h * 2), wi, wh, bi, bh), torch.gru_cell(x, h, wi[:15], wh[:15]),
        torch.rnn_tanh_cell(x, h, wi[:5], wh[:5], bi[:5], bh[:5]),
        torch.rnn_relu_cell(x, h, wi[:5], wh[:5])),
        rand(2, 3), rand(2, 5), *weights(4, 5, [3]))
