// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/retype_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "exir/annotate.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

bool is_tensor_of(const Value& value, ScalarType type) {
  return value.type().is_tensor() && value.tensor().dtype == type;
}

// Whether the node does nothing but cast a tensor of `from` to `to`.
bool is_cast(const Node* node, ScalarType from, ScalarType to) {
  return node != nullptr && node->is(aten::_to_copy) &&
         node->argument(arg::memory_format).is_none() &&
         is_tensor_of(*node->input(arg::self), from) && is_tensor_of(*node->result(), to);
}

void replace_in(Node* user, Value* value, Value* by) {
  for (size_t i = 0; i < user->arguments().size(); ++i) {
    Argument argument = user->arguments()[i];
    argument.replace(value, by);
    user->set_argument(i, std::move(argument));
  }
}

class Rewriter {
 public:
  Rewriter(Graph& graph, const std::vector<Node*>& nodes, const Retyping& retyping)
      : graph_(graph), nodes_(nodes.begin(), nodes.end()), retyping_(retyping) {}

  absl::Status rewrite(Node* node) {
    for (Value* operand : node->operands()) {
      // Another argument was the same value, or a node before this one.
      if (!is_tensor_of(*operand, retyping_.from)) continue;
      PETREL_ASSIGN_OR_RETURN(Value* const cast, in_other_type(operand, node));
      replace_in(node, operand, cast);
      if (operand->is_constant() && !operand->is_used()) graph_.erase_constant(operand);
    }
    // What says the type of a result: of conversions from levels.
    for (size_t i = 0; i < node->arguments().size(); ++i) {
      const Argument& argument = node->arguments()[i];
      if (argument.is_scalar_type() && argument.as_scalar_type() == retyping_.from) {
        node->set_argument(i, Argument(retyping_.to));
      }
    }
    for (size_t i = 0; i < node->num_results(); ++i) {
      Value* const result = node->result(i);
      if (!is_tensor_of(*result, retyping_.from)) continue;
      TensorType type = result->tensor();
      type.dtype = retyping_.to;
      result->set_type(Type(type));
      PETREL_RETURN_IF_ERROR(cast_back(node, result));
    }
    return absl::OkStatus();
  }

  // Casts of the program whose results nobody reads any more.
  void erase_unused() {
    for (Node* cast : bypassed_) {
      if (!cast->result()->is_used()) graph_.erase(cast);
    }
  }

 private:
  // Made once; a constant for all, a value where it is.
  BuiltValue in_other_type(Value* value, Node* user) {
    Value*& made = made_[value];
    if (made != nullptr) return made;
    if (value->is_constant()) {
      PETREL_ASSIGN_OR_RETURN(const ConstantPtr constant, retyping_.constant(value->constant()));
      return made = graph_.add_constant(constant);
    }
    if (is_cast(value->producer(), retyping_.to, retyping_.from)) {
      bypassed_.insert(value->producer());
      return made = value->producer()->input(arg::self);
    }
    Node* const behind = value->producer() == nullptr ? graph_.nodes().front().get()
                                                      : graph_.next(value->producer());
    Builder builder(graph_, behind == nullptr ? user : behind);
    PETREL_ASSIGN_OR_RETURN(made, builder.cast(value, retyping_.to));
    return made;
  }

  // For users that compute with what they did, and for outputs.
  absl::Status cast_back(Node* node, Value* result) {
    std::vector<Node*> casts;    // of the program
    std::vector<Node*> retyped;  // that want the new type
    const std::vector<Node*> users = result->users();
    for (Node* user : users) {
      if (is_cast_of(user, result)) {
        casts.push_back(user);
      } else if (nodes_.count(user) != 0) {
        retyped.push_back(user);
      }
    }
    if (result->output_uses() > 0 || casts.size() + retyped.size() < users.size()) {
      Builder builder(graph_, graph_.next(node));
      PETREL_ASSIGN_OR_RETURN(Value* const cast, builder.cast(result, retyping_.from));
      graph_.replace_all_uses(result, cast);
      cast->producer()->set_argument(0, Argument(result));
      for (Node* user : retyped) replace_in(user, cast, result);
    }
    for (Node* cast : casts) {
      graph_.replace_all_uses(cast->result(), result);
      bypassed_.insert(cast);
    }
    return absl::OkStatus();
  }

  // To the new type of `result`, which is its own already.
  bool is_cast_of(const Node* user, const Value* result) const {
    return is_cast(user, retyping_.to, retyping_.to) && user->input(arg::self) == result;
  }

  Graph& graph_;
  const std::set<const Node*> nodes_;
  const Retyping& retyping_;
  std::map<const Value*, Value*> made_;
  std::set<Node*> bypassed_;
};

}  // namespace

bool computes_in(const Node& node, ScalarType type) {
  if (node.num_results() != 1 || !is_tensor_of(*node.result(), type)) return false;
  bool computes = false;
  for (const Value* operand : node.operands()) {
    if (!is_tensor_of(*operand, type)) return false;
    if (operand->is_constant() && operand->constant()->is_mutable()) return false;
    computes = computes || !operand->is_constant();
  }
  const std::vector<Argument>& arguments = node.arguments();
  return computes && std::none_of(arguments.begin(), arguments.end(),
                                  [](const Argument& a) { return a.is_scalar_type(); });
}

absl::Status retype(Graph& graph, const std::vector<Node*>& nodes, const Retyping& retyping) {
  Rewriter rewriter(graph, nodes, retyping);
  for (Node* node : nodes) {
    const std::string place = node->describe();
    const absl::Status done = rewriter.rewrite(node);
    if (!done.ok()) return annotate(done, place);
  }
  rewriter.erase_unused();
  return absl::OkStatus();
}

}  // namespace petrel::exir
