// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers, one copy of the cell per step. The product with the inputs
// is made for all steps at once; what is left in the loop is small.
//
//   gx = x W_ih^T + b_ih                         [steps, batch, gates * hidden]
//   per step   gates = gx[t] + (h W_hh^T + b_hh)
//              h, c  = cell(gates, h, c)
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;
using Values = std::vector<Value*>;

// More copies of a cell make programs that nobody wants.
constexpr int64_t kMostSteps = 4096;

enum class Kind { kLstm, kGru, kTanh, kRelu };

Kind kind_of(const Node& node) {
  if (node.is(aten::lstm_input, aten::lstm_cell)) return Kind::kLstm;
  if (node.is(aten::gru_input, aten::gru_cell)) return Kind::kGru;
  return node.is(aten::rnn_relu_input, aten::rnn_relu_cell) ? Kind::kRelu : Kind::kTanh;
}

// Weights of one layer in one direction; what it lacks is null.
struct Weights {
  Value* input = nullptr;
  Value* hidden = nullptr;
  Value* input_bias = nullptr;
  Value* hidden_bias = nullptr;
  Value* projection = nullptr;
};

// [batch, columns of `part`], `count` equal parts in the last dim.
BuiltValue part(Builder& b, Value* gates, int64_t index, int64_t count) {
  const Size size = sizes_of(gates).back() / count;
  return b.slice(gates, 1, index * size, (index + 1) * size);
}

BuiltValue sigmoid(Builder& b, Value* x) { return b.call(aten::sigmoid, {x}); }

BuiltValue tanh(Builder& b, Value* x) { return b.call(aten::tanh, {x}); }

BuiltValue linear(Builder& b, Value* x, Value* weight, Value* bias) {
  return b.call(aten::linear, {x, weight, bias == nullptr ? Arg(none()) : Arg(bias)});
}

// gates = [input, forget, candidate, output]
//   c' = sigmoid(forget) c + sigmoid(input) tanh(candidate)
//   h' = sigmoid(output) tanh(c')
absl::Status lstm_cell(Builder& b, Value* gates, Value* projection, Value** h, Value** c) {
  const Size size = sizes_of(gates).back() / 4;
  PETREL_ASSIGN_OR_RETURN(Value * both, b.slice(gates, 1, 0, 2 * size));
  PETREL_ASSIGN_OR_RETURN(both, sigmoid(b, both));
  PETREL_ASSIGN_OR_RETURN(Value * in, part(b, both, 0, 2));
  PETREL_ASSIGN_OR_RETURN(Value * forget, part(b, both, 1, 2));
  PETREL_ASSIGN_OR_RETURN(Value * candidate, part(b, gates, 2, 4));
  PETREL_ASSIGN_OR_RETURN(candidate, tanh(b, candidate));
  PETREL_ASSIGN_OR_RETURN(Value * out, part(b, gates, 3, 4));
  PETREL_ASSIGN_OR_RETURN(out, sigmoid(b, out));
  PETREL_ASSIGN_OR_RETURN(Value * kept, b.binary(aten::mul_Tensor, forget, *c));
  PETREL_ASSIGN_OR_RETURN(Value * added, b.binary(aten::mul_Tensor, in, candidate));
  PETREL_ASSIGN_OR_RETURN(*c, b.binary(aten::add_Tensor, kept, added));
  PETREL_ASSIGN_OR_RETURN(Value * bounded, tanh(b, *c));
  PETREL_ASSIGN_OR_RETURN(*h, b.binary(aten::mul_Tensor, out, bounded));
  if (projection != nullptr) {
    PETREL_ASSIGN_OR_RETURN(*h, linear(b, *h, projection, nullptr));
  }
  return absl::OkStatus();
}

// gates = [reset, update, candidate], of the input and of the state
//   n  = tanh(candidate_x + sigmoid(reset) candidate_h)
//   h' = n + sigmoid(update) (h - n)
absl::Status gru_cell(Builder& b, Value* from_x, Value* from_h, Value** h) {
  const Size size = sizes_of(from_x).back() / 3;
  PETREL_ASSIGN_OR_RETURN(Value * x2, b.slice(from_x, 1, 0, 2 * size));
  PETREL_ASSIGN_OR_RETURN(Value * h2, b.slice(from_h, 1, 0, 2 * size));
  PETREL_ASSIGN_OR_RETURN(Value * both, b.binary(aten::add_Tensor, x2, h2));
  PETREL_ASSIGN_OR_RETURN(both, sigmoid(b, both));
  PETREL_ASSIGN_OR_RETURN(Value * reset, part(b, both, 0, 2));
  PETREL_ASSIGN_OR_RETURN(Value * update, part(b, both, 1, 2));
  PETREL_ASSIGN_OR_RETURN(Value * n, part(b, from_h, 2, 3));
  PETREL_ASSIGN_OR_RETURN(n, b.binary(aten::mul_Tensor, reset, n));
  PETREL_ASSIGN_OR_RETURN(Value * candidate, part(b, from_x, 2, 3));
  PETREL_ASSIGN_OR_RETURN(n, b.binary(aten::add_Tensor, candidate, n));
  PETREL_ASSIGN_OR_RETURN(n, tanh(b, n));
  PETREL_ASSIGN_OR_RETURN(Value * away, b.binary(aten::sub_Tensor, *h, n));
  PETREL_ASSIGN_OR_RETURN(away, b.binary(aten::mul_Tensor, update, away));
  PETREL_ASSIGN_OR_RETURN(*h, b.binary(aten::add_Tensor, n, away));
  return absl::OkStatus();
}

// One step of any of the four, from the products of input and state.
absl::Status step(Builder& b, Kind kind, Value* from_x, Value* from_h, Value* projection, Value** h,
                  Value** c) {
  if (kind == Kind::kGru) return gru_cell(b, from_x, from_h, h);
  PETREL_ASSIGN_OR_RETURN(Value * gates, b.binary(aten::add_Tensor, from_x, from_h));
  if (kind == Kind::kLstm) return lstm_cell(b, gates, projection, h, c);
  PETREL_ASSIGN_OR_RETURN(*h, kind == Kind::kRelu ? b.call(aten::relu, {gates}) : tanh(b, gates));
  return absl::OkStatus();
}

// Entry `index` of [count, batch, size], as [batch, size].
BuiltValue entry(Builder& b, Value* x, int64_t index) {
  const Sizes sizes = sizes_of(x);
  PETREL_ASSIGN_OR_RETURN(x, b.slice(x, 0, index, index + 1));
  return b.view(x, {sizes[1], sizes[2]});
}

// [batch, size] each, joined to [count, batch, size].
BuiltValue joined(Builder& b, const Values& parts) {
  Values rows;
  for (Value* value : parts) {
    const Sizes& sizes = sizes_of(value);
    PETREL_ASSIGN_OR_RETURN(value, b.view(value, {1, sizes[0], sizes[1]}));
    rows.push_back(value);
  }
  if (rows.size() == 1) return rows[0];
  return b.call(aten::cat, {rows, 0});
}

// Runs one layer in one direction over x [steps, batch, size]; returns the
// hidden states of all steps in the order of the input.
BuiltValue direction(Builder& b, Kind kind, Value* x, const Weights& w, bool is_reverse, Value** h,
                     Value** c) {
  const int64_t steps = sizes_of(x)[0];
  PETREL_ASSIGN_OR_RETURN(Value * from_x, linear(b, x, w.input, w.input_bias));
  Values states(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = is_reverse ? steps - 1 - i : i;
    PETREL_ASSIGN_OR_RETURN(Value * now, entry(b, from_x, t));
    PETREL_ASSIGN_OR_RETURN(Value * from_h, linear(b, *h, w.hidden, w.hidden_bias));
    PETREL_RETURN_IF_ERROR(step(b, kind, now, from_h, w.projection, h, c));
    states[static_cast<size_t>(t)] = *h;
  }
  return joined(b, states);
}

Rewritten recurrent(Builder& b, Node& node) {
  const Kind kind = kind_of(node);
  const bool has_cell = kind == Kind::kLstm;
  Value* x = tensor_at(node, arg::input);
  // The rule saw to it that states and parameters fit each other.
  const Values initial = node.argument(arg::hx).values();
  const Values params = node.argument(arg::params).values();
  const bool has_biases = node.argument(arg::has_biases) == Argument(true);
  const bool batch_first = node.argument(arg::batch_first) == Argument(true);
  const int64_t layers = fixed_int(node.argument(arg::num_layers));
  const int64_t directions = node.argument(arg::bidirectional) == Argument(true) ? 2 : 1;
  const size_t cells = static_cast<size_t>(layers * directions);
  const size_t plain = has_biases ? 4 : 2;
  const size_t each = params.size() / cells;
  if (batch_first) {
    PETREL_ASSIGN_OR_RETURN(x, b.permute(x, {1, 0, 2}));
  }
  const int64_t steps = sizes_of(x)[0];
  if (steps < 1) return false;
  if (steps > kMostSteps / static_cast<int64_t>(cells)) {
    return absl::UnimplementedError(absl::StrCat(node.describe(), ": ", steps, " steps of ", cells,
                                                 " cells, must be at most ", kMostSteps,
                                                 " in all"));
  }
  Values last_h, last_c;
  for (int64_t layer = 0; layer < layers; ++layer) {
    Values outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t cell = layer * directions + d;
      const Values own(params.begin() + cell * static_cast<int64_t>(each),
                       params.begin() + (cell + 1) * static_cast<int64_t>(each));
      Weights w;
      w.input = own[0];
      w.hidden = own[1];
      if (has_biases) {
        w.input_bias = own[2];
        w.hidden_bias = own[3];
      }
      if (each > plain) w.projection = own[each - 1];
      PETREL_ASSIGN_OR_RETURN(Value * h, entry(b, initial[0], cell));
      Value* c = nullptr;
      if (has_cell) {
        PETREL_ASSIGN_OR_RETURN(c, entry(b, initial[1], cell));
      }
      PETREL_ASSIGN_OR_RETURN(Value * y, direction(b, kind, x, w, d == 1, &h, &c));
      outputs.push_back(y);
      last_h.push_back(h);
      if (has_cell) last_c.push_back(c);
    }
    x = outputs[0];
    if (directions == 2) {
      PETREL_ASSIGN_OR_RETURN(x, b.call(aten::cat, {outputs, 2}));
    }
  }
  if (batch_first) {
    PETREL_ASSIGN_OR_RETURN(x, b.permute(x, {1, 0, 2}));
  }
  Values results = {x};
  PETREL_ASSIGN_OR_RETURN(Value * h, joined(b, last_h));
  results.push_back(h);
  if (has_cell) {
    PETREL_ASSIGN_OR_RETURN(Value * c, joined(b, last_c));
    results.push_back(c);
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, results));
  return true;
}

// One step by itself.
Rewritten cell(Builder& b, Node& node) {
  const Values state = node.argument(arg::hx).values();
  if (state.size() != node.num_results()) return false;
  PETREL_ASSIGN_OR_RETURN(Value * from_x,
                          linear(b, tensor_at(node, arg::input), tensor_at(node, arg::w_ih),
                                 tensor_at(node, arg::b_ih)));
  Value* h = state[0];
  Value* c = state.size() == 2 ? state[1] : nullptr;
  PETREL_ASSIGN_OR_RETURN(Value * from_h,
                          linear(b, h, tensor_at(node, arg::w_hh), tensor_at(node, arg::b_hh)));
  PETREL_RETURN_IF_ERROR(step(b, kind_of(node), from_x, from_h, nullptr, &h, &c));
  Values results = {h};
  if (c != nullptr) results.push_back(c);
  PETREL_RETURN_IF_ERROR(b.replace(node, results));
  return true;
}

constexpr Rewrite kRows[] = {
    {aten::lstm_cell, cell},           {aten::gru_cell, cell},
    {aten::rnn_tanh_cell, cell},       {aten::rnn_relu_cell, cell},
    {aten::lstm_input, recurrent},     {aten::gru_input, recurrent},
    {aten::rnn_tanh_input, recurrent}, {aten::rnn_relu_input, recurrent},
};

}  // namespace

Rewrites recurrent_decompositions() { return kRows; }

}  // namespace petrel::exir
