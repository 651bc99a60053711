// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/share_state.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

struct State {
  std::string method;
  ConstantPtr constant;
};

absl::Status check_same(const State& state, const std::string& method, const Constant& other) {
  const Constant& first = *state.constant;
  std::string difference;
  if (first.type != other.type) {
    difference = absl::StrCat("is ", to_string(other.type), ", in method '", state.method,
                              "' it is ", to_string(first.type));
  } else if (!first.data.equals(other.data)) {
    difference = absl::StrCat("starts with other values than in method '", state.method, "'");
  } else {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("method '", method, "': state '", other.fqn, "' ",
                                                 difference, "; methods share state by name"));
}

void put_in_place(Graph& graph, Value* old, const ConstantPtr& state) {
  Value* shared = graph.add_constant(state);
  graph.replace_all_uses(old, shared);
  std::vector<BufferWrite> writes = graph.buffer_writes();
  for (BufferWrite& write : writes) {
    if (write.buffer == old) write.buffer = shared;
  }
  graph.set_buffer_writes(std::move(writes));
  const std::string name = old->name();
  graph.erase_constant(old);
  graph.rename(shared, name);
}

}  // namespace

absl::Status share_state(Program& program) {
  std::map<std::string, State> states;  // the first of each name
  for (const auto& [name, method] : program.methods) {
    for (const Value* value : method.graph->constants()) {
      if (!value->constant()->is_mutable()) continue;
      states.emplace(value->constant()->fqn, State{name, value->constant()});
    }
  }
  for (auto& [name, method] : program.methods) {
    for (Value* value : method.graph->constants()) {
      const auto state = states.find(value->constant()->fqn);
      if (state == states.end() || state->second.constant == value->constant()) {
        continue;
      }
      PETREL_RETURN_IF_ERROR(check_same(state->second, name, *value->constant()));
      put_in_place(*method.graph, value, state->second.constant);
    }
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
