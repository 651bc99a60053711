// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// The initial state is [layers * directions, batch, hidden].
absl::StatusOr<Type> sequence_output(const BoundArguments& in, const TensorType& state) {
  const TensorType& input = in.tensor("input");
  const int64_t directions = in.flag("bidirectional") ? 2 : 1;
  if (in.flag("train") && in.number("dropout") != 0.0) {
    return invalid("in training mode; call eval() on the model before exporting it");
  }
  if (input.rank() != 3 || state.rank() != 3) {
    return invalid("arguments 'input' and 'hx' have ranks ", input.rank(), " and ", state.rank(),
                   ", must be 3");
  }
  const Size batch = input.sizes[in.flag("batch_first") ? 0 : 1];
  if (state.sizes[1] != batch) {
    return invalid("argument 'hx' [", absl::StrJoin(state.sizes, ","), "] does not fit a batch of ",
                   batch);
  }
  Sizes sizes = input.sizes;
  sizes[2] = state.sizes[2] * directions;
  return Type(TensorType::contiguous(input.dtype, std::move(sizes)));
}

Inferred lstm(const BoundArguments& in) {
  const std::vector<const TensorType*> states = in.tensors("hx");
  if (states.size() != 2) {
    return invalid("argument 'hx' has ", states.size(), " tensors, must have 2");
  }
  PETREL_ASSIGN_OR_RETURN(Type output, sequence_output(in, *states[0]));
  return std::vector<Type>{output, TensorType::contiguous(states[0]->dtype, states[0]->sizes),
                           TensorType::contiguous(states[1]->dtype, states[1]->sizes)};
}

Inferred simple_recurrent(const BoundArguments& in) {
  const TensorType& state = in.tensor("hx");
  PETREL_ASSIGN_OR_RETURN(Type output, sequence_output(in, state));
  return std::vector<Type>{output, TensorType::contiguous(state.dtype, state.sizes)};
}

constexpr OpRow kRows[] = {
    {"aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool "
     "bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
     "", kPure, infer<lstm>},
    {"aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool "
     "bidirectional, bool batch_first) -> (Tensor, Tensor)",
     "", kPure, infer<simple_recurrent>},
    {"aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool "
     "bidirectional, bool batch_first) -> (Tensor, Tensor)",
     "", kPure, infer<simple_recurrent>},
    {"aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool "
     "bidirectional, bool batch_first) -> (Tensor, Tensor)",
     "", kPure, infer<simple_recurrent>},
};

}  // namespace

absl::Span<const OpRow> recurrent_ops() { return kRows; }

}  // namespace petrel::exir::rules
