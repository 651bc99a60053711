// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/integer_state.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exir/integer/levels.h"
#include "exir/integer/move_levels.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

struct State {
  ConstantPtr buffer;
  std::vector<std::pair<Graph*, Value*>> values;
  const Node* quantize = nullptr;  // the first of its readers
};

// By name: methods have values of their own for one buffer.
using States = std::map<std::string, State>;

States find_states(Program& program) {
  States states;
  for (auto& [name, method] : program.methods) {
    for (const BufferWrite& write : method.graph->buffer_writes()) {
      states[write.buffer->constant()->fqn].buffer = write.buffer->constant();
    }
  }
  for (auto& [name, method] : program.methods) {
    for (Value* value : method.graph->constants()) {
      const auto state = states.find(value->constant()->fqn);
      if (state != states.end() && value->constant()->is_mutable()) {
        state->second.values.emplace_back(method.graph.get(), value);
      }
    }
  }
  return states;
}

// Whether all readers quantise it alike.
bool is_of_levels(State* state) {
  if (state->buffer->type.dtype != ScalarType::kFloat) return false;
  std::optional<Int8Levels> all;
  for (const auto& [graph, value] : state->values) {
    for (const Node* user : value->users()) {
      if (!user->is(quantized_decomposed::quantize_per_tensor)) return false;
      const std::optional<Int8Levels> levels = levels_of(*user);
      if (!levels || (all && !(*all == *levels))) return false;
      all = levels;
      if (state->quantize == nullptr) state->quantize = user;
    }
    const std::vector<Value*>& outputs = graph->outputs();
    if (std::find(outputs.begin(), outputs.end(), value) != outputs.end()) return false;
  }
  return all.has_value();
}

absl::StatusOr<ConstantPtr> stored_in(const Constant& buffer, const Int8Levels& levels) {
  PETREL_ASSIGN_OR_RETURN(std::vector<double> numbers, decode_constant(buffer));
  for (double& number : numbers) number = static_cast<double>(levels.level_of(number));
  auto made = std::make_shared<Constant>(buffer);
  made->type = TensorType::contiguous(levels.dtype, buffer.type.sizes);
  PETREL_ASSIGN_OR_RETURN(made->data, encode_constant(numbers, levels.dtype));
  return ConstantPtr(std::move(made));
}

absl::Status write_levels(Graph& graph, const State& state, Value* levels) {
  std::vector<BufferWrite> writes = graph.buffer_writes();
  for (BufferWrite& write : writes) {
    if (write.buffer->constant()->fqn != state.buffer->fqn) continue;
    if (write.value == write.buffer) {
      write = {levels, levels};
      continue;
    }
    Builder b(graph, nullptr);
    PETREL_ASSIGN_OR_RETURN(Node * quantize, b.node(state.quantize->op(),
                                                    with_numbers_of(*state.quantize, write.value)));
    write = {levels, quantize->result()};
  }
  graph.set_buffer_writes(std::move(writes));
  return absl::OkStatus();
}

absl::Status keep_in_levels(const State& state) {
  PETREL_ASSIGN_OR_RETURN(const ConstantPtr stored,
                          stored_in(*state.buffer, *levels_of(*state.quantize)));
  for (const auto& [graph, value] : state.values) {
    Value* const made = graph->add_constant(stored);
    PETREL_RETURN_IF_ERROR(write_levels(*graph, state, made));
    for (const Node* user : value->users()) graph->replace_all_uses(user->result(), made);
  }
  for (const auto& [graph, value] : state.values) {
    const std::vector<Node*> users = value->users();
    for (Node* user : users) graph->erase(user);
    graph->erase_constant(value);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status integer_state(Program& program) {
  for (auto& [name, method] : program.methods) {
    if (!method.graph->buffer_writes().empty()) {
      PETREL_RETURN_IF_ERROR(move_levels(*method.graph).status());
    }
  }
  for (auto& [name, state] : find_states(program)) {
    if (is_of_levels(&state)) PETREL_RETURN_IF_ERROR(keep_in_levels(state));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
