// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers and single steps of them. Decompositions cut states and parameters to pieces:
// that all of these fit each other is seen to here.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// How many products a cell makes of its input, and of its state, for each element of the state.
int64_t gates_of(const OpInfo& op) {
  if (op.name.find("lstm") != std::string::npos) return 4;
  return op.name.find("gru") != std::string::npos ? 3 : 1;
}

absl::Status check_sizes(const std::string& what, const TensorType& type, const Sizes& wanted) {
  if (type.sizes == wanted) return absl::OkStatus();
  return invalid(what, " is [", absl::StrJoin(type.sizes, ","), "], must be [",
                 absl::StrJoin(wanted, ","), "]");
}

// The states [..., batch, size] before a step; of an LSTM also that of its cells, as another may
// be made of what they give.
struct States {
  TensorType hidden, cells;
};

absl::StatusOr<States> states_of(const BoundArguments& in, size_t rank) {
  const bool has_cells = in.at("hx").is_list();
  const std::vector<const TensorType*> list = in.tensors("hx");
  if (has_cells && list.size() != 2) {
    return invalid("argument 'hx' has ", list.size(), " tensors, must have 2");
  }
  States states;
  states.hidden = has_cells ? *list[0] : in.tensor("hx");
  states.cells = has_cells ? *list[1] : states.hidden;
  for (const size_t found :
       {in.tensor("input").rank(), states.hidden.rank(), states.cells.rank()}) {
    if (found == rank) continue;
    return invalid("argument 'input' or 'hx' has rank ", found, ", must be ", rank);
  }
  return states;
}

// One step: input [batch, inputs], states [batch, size].
Inferred cell(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  PETREL_ASSIGN_OR_RETURN(const States states, states_of(in, 2));
  const Size size = states.hidden.sizes[1];
  const Size rows = size * gates_of(in.op());
  for (const TensorType* state : {&states.hidden, &states.cells}) {
    PETREL_RETURN_IF_ERROR(check_sizes("argument 'hx'", *state, {input.sizes[0], size}));
  }
  PETREL_RETURN_IF_ERROR(check_sizes("argument 'w_ih'", in.tensor("w_ih"), {rows, input.sizes[1]}));
  PETREL_RETURN_IF_ERROR(check_sizes("argument 'w_hh'", in.tensor("w_hh"), {rows, size}));
  for (const char* name : {"b_ih", "b_hh"}) {
    if (!in.given(name)) continue;
    PETREL_RETURN_IF_ERROR(
        check_sizes(absl::StrCat("argument '", name, "'"), in.tensor(name), {rows}));
  }
  std::vector<Type> types = {TensorType::contiguous(states.hidden.dtype, states.hidden.sizes)};
  if (in.at("hx").is_list()) {
    types.push_back(TensorType::contiguous(states.cells.dtype, states.cells.sizes));
  }
  return types;
}

// How many layers and directions there are, and how many parameters each of these has.
struct Layers {
  int64_t directions = 1;
  size_t cells = 0;
  size_t each = 0;
  bool has_projection = false;
};

absl::StatusOr<Layers> layers_of(const BoundArguments& in) {
  const size_t params = in.tensors("params").size();
  const int64_t layers = in.integer("num_layers");
  Layers made;
  made.directions = in.flag("bidirectional") ? 2 : 1;
  const size_t plain = in.flag("has_biases") ? 4 : 2;
  const bool may_project = gates_of(in.op()) == 4;
  if (layers >= 1 && layers <= static_cast<int64_t>(params)) {
    made.cells = static_cast<size_t>(layers * made.directions);
    made.each = params / made.cells;
    made.has_projection = may_project && made.each == plain + 1;
  }
  if (made.cells == 0 || made.each * made.cells != params ||
      made.each != plain + (made.has_projection ? 1 : 0)) {
    return invalid("argument 'params' has ", params, " weights for ", layers, " layers of ",
                   made.directions, " directions, must have ", plain, " for each",
                   may_project ? ", or one more" : "");
  }
  return made;
}

// The parameters of every cell: [gates * size, inputs], [gates * size, hidden], biases
// [gates * size] and, where an LSTM projects what its cells give, [hidden, size].
absl::Status check_params(const BoundArguments& in, const Layers& layers, const States& states) {
  const std::vector<const TensorType*> params = in.tensors("params");
  const Size hidden = states.hidden.sizes[2];
  const Size size = states.cells.sizes[2];
  const Size rows = size * gates_of(in.op());
  for (size_t i = 0; i < params.size(); ++i) {
    const bool is_first = i / layers.each < static_cast<size_t>(layers.directions);
    const Size inputs = is_first ? in.tensor("input").sizes[2] : hidden * layers.directions;
    const size_t place = i % layers.each;
    const bool is_projection = layers.has_projection && place + 1 == layers.each;
    const Sizes wanted = is_projection ? Sizes{hidden, size}
                         : place == 0  ? Sizes{rows, inputs}
                         : place == 1  ? Sizes{rows, hidden}
                                       : Sizes{rows};
    PETREL_RETURN_IF_ERROR(check_sizes(absl::StrCat("weight ", i), *params[i], wanted));
  }
  if (!layers.has_projection && hidden != size) {
    return invalid("argument 'hx' has states of ", hidden, " and of ", size,
                   " elements without a projection between them");
  }
  return absl::OkStatus();
}

// input [steps, batch, inputs], or batch first; states [layers * directions, batch, size].
Inferred recurrent(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  if (in.flag("train") && in.number("dropout") != 0.0) {
    return invalid("in training mode; call eval() on the model before exporting it");
  }
  PETREL_ASSIGN_OR_RETURN(const States states, states_of(in, 3));
  PETREL_ASSIGN_OR_RETURN(const Layers layers, layers_of(in));
  const Size batch = input.sizes[in.flag("batch_first") ? 0 : 1];
  for (const TensorType* state : {&states.hidden, &states.cells}) {
    PETREL_RETURN_IF_ERROR(check_sizes(
        "argument 'hx'", *state, {static_cast<int64_t>(layers.cells), batch, state->sizes[2]}));
  }
  PETREL_RETURN_IF_ERROR(check_params(in, layers, states));
  Sizes sizes = input.sizes;
  sizes[2] = states.hidden.sizes[2] * layers.directions;
  std::vector<Type> types = {TensorType::contiguous(input.dtype, std::move(sizes)),
                             TensorType::contiguous(states.hidden.dtype, states.hidden.sizes)};
  if (in.at("hx").is_list()) {
    types.push_back(TensorType::contiguous(states.cells.dtype, states.cells.sizes));
  }
  return types;
}

constexpr OpRow kRows[] = {
    {"aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool "
     "bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
     "", kPure, infer<recurrent>},
    {"aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool "
     "bidirectional, bool batch_first) -> (Tensor, Tensor)",
     "", kPure, infer<recurrent>},
    {"aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool "
     "bidirectional, bool batch_first) -> (Tensor, Tensor)",
     "", kPure, infer<recurrent>},
    {"aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool "
     "bidirectional, bool batch_first) -> (Tensor, Tensor)",
     "", kPure, infer<recurrent>},
    {"aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, "
     "Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
     "", kPure, infer<cell>},
    {"aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
     "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
     "", kPure, infer<cell>},
    {"aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
     "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
     "", kPure, infer<cell>},
    {"aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
     "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
     "", kPure, infer<cell>},
};

}  // namespace

absl::Span<const OpRow> recurrent_ops() { return kRows; }

}  // namespace petrel::exir::rules
