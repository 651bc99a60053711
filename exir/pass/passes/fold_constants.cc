// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/fold_constants.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "exir/annotate.h"
#include "exir/fold/evaluate.h"
#include "exir/ir/text.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/dequantised.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/pass/passes/fold_counts.h"
#include "exir/pass/passes/move_constants.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// Folded whatever they are made of.
constexpr int64_t kSmallBytes = 64 << 10;
// What one folding may hold while it runs.
constexpr int64_t kMostBytes = int64_t{256} << 20;
// What a folding may take when it is tried, by its estimate: each operand once, and results as
// often as the runtime counts them. Then how far the estimate may be below the truth, as it is
// for large windows. What it may take is what it is charged.
struct Try {
  double times, more;
};
constexpr Try kTries[] = {{2, 0x1p12}, {16, 0x1p20}};

bool is_fixed(const Value* value) {
  return value->is_constant() && !value->constant()->is_mutable();
}

// What is left of it in a graph, and the nodes that wanted more.
struct Work {
  double left;
  FoldCounts counts;
  std::set<const Node*> refused;
};

// Whether results of `node` may be kept.
bool take_bytes(const Node& node, Work* work) {
  double bytes = 0;
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (node.result(i)->is_used()) bytes += static_cast<double>(node.result(i)->tensor().nbytes());
  }
  return work->counts.take(bytes);
}

// Folded, quantised weights would take four times their bytes, and no backend would find them
// any more. Biases of i32 take as many as floats.
bool widens(const Node& node) {
  return dequantises(node) &&
         node.result()->tensor().nbytes() > node.operands()[0]->tensor().nbytes();
}

double count(const Value* value) { return static_cast<double>(value->tensor().numel()); }

// What attention makes on the way: a number for each query and key. 0 of other nodes.
double scores_of(const Node& node) {
  if (!node.is(aten::scaled_dot_product_attention) || count(node.result()) == 0) return 0;
  const TensorType& keys = node.input(arg::key)->tensor();
  if (keys.rank() < 2) return 0;
  const double queries =
      count(node.result()) / static_cast<double>(node.result()->tensor().sizes.back());
  return queries * static_cast<double>(keys.sizes[keys.rank() - 2]);
}

// By a kernel, or as what it is lowered to.
bool can_run(const Node& node) {
  return can_evaluate(node.op()) ||
         (node.is_pure() && node.num_results() == 1 && is_lowered(node.op()));
}

// The nodes that depend on constants alone and can be run.
std::set<Node*> find_candidates(const Graph& graph, const Work& work) {
  std::set<Node*> candidates;
  for (const auto& node : graph.nodes()) {
    bool known = can_run(*node) && !widens(*node) && work.refused.count(node.get()) == 0;
    int64_t bytes = 0;
    for (Value* operand : node->operands()) {
      known = known && (operand->producer() != nullptr ? candidates.count(operand->producer()) > 0
                                                       : is_fixed(operand));
    }
    for (size_t i = 0; known && i < node->num_results(); ++i) {
      known = node->result(i)->type().is_tensor() && !node->result(i)->type().is_dynamic() &&
              node->result(i)->tensor().is_contiguous();
      if (known) bytes += node->result(i)->tensor().nbytes();
    }
    known = known && static_cast<double>(bytes) + sizeof(float) * scores_of(*node) <= kMostBytes;
    if (known) candidates.insert(node.get());
  }
  return candidates;
}

// Everything `node` is computed from: nodes in order, and the constants.
struct Cone {
  std::vector<Node*> nodes;  // last first
  std::set<Value*> constants;

  int64_t constant_bytes() const {
    int64_t bytes = 0;
    for (const Value* value : constants) bytes += value->tensor().nbytes();
    return bytes;
  }
  double work() const;
};

// Multiply-adds of matrices [m, k] and [k, n]: the root of m k * k n * m n. Of windows about
// that many.
double products_of(const Node& node) {
  if (const double scores = scores_of(node); scores > 0) {
    const auto depth = [&](ArgHandle name) { return node.input(name)->tensor().sizes.back(); };
    return scores * static_cast<double>(depth(arg::query) + depth(arg::value) + 8);
  }
  if (!node.is(aten::mm, aten::bmm, aten::addmm, aten::matmul, aten::linear, aten::convolution)) {
    return 0;
  }
  std::vector<double> sizes;
  for (const Value* operand : node.operands()) sizes.push_back(count(operand));
  if (sizes.size() < 2) return 0;
  std::partial_sort(sizes.begin(), sizes.begin() + 2, sizes.end(), std::greater<>());
  return std::sqrt(sizes[0] * sizes[1] * count(node.result()));
}

// All elements once, and products.
double Cone::work() const {
  double work = 0;
  for (const Node* node : nodes) {
    for (const Value* operand : node->operands()) work += count(operand);
    for (size_t i = 0; i < node->num_results(); ++i) work += count(node->result(i));
    work += products_of(*node);
  }
  return work;
}

// A step of a walk takes as long as so many elements.
constexpr double kStepWork = 256;

// Nothing where no work is left: cones of many nodes may be the same ones, walked for each.
std::optional<Cone> cone_of(Node* node, Work* work) {
  if (work->left <= 0) return std::nullopt;
  Cone cone;
  double steps = 0;
  std::set<Node*> seen = {node};
  std::vector<Node*> open = {node};
  while (!open.empty()) {
    Node* next = open.back();
    open.pop_back();
    for (Value* operand : next->operands()) {
      ++steps;
      if (operand->producer() == nullptr) {
        cone.constants.insert(operand);
      } else if (seen.insert(operand->producer()).second) {
        open.push_back(operand->producer());
      }
    }
  }
  // In the order of the graph.
  for (Node* one = node; one != nullptr;) {
    ++steps;
    if (seen.count(one) > 0) cone.nodes.push_back(one);
    seen.erase(one);
    if (seen.empty()) break;
    one = one->graph().previous(one);
  }
  work->left -= kStepWork * steps;
  return cone;
}

// By name, so that equal programs are written alike.
std::vector<Value*> sorted_constants(const Cone& cone) {
  std::vector<Value*> sorted(cone.constants.begin(), cone.constants.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Value* a, const Value* b) { return a->constant()->fqn < b->constant()->fqn; });
  return sorted;
}

// A method without inputs that returns the used results of the cone's last
// node.
std::unique_ptr<Graph> program_of(const Cone& cone) {
  auto graph = std::make_unique<Graph>("fold");
  std::map<Value*, Value*> map;
  for (Value* constant : sorted_constants(cone)) {
    map[constant] = graph->add_constant(constant->constant());
  }
  for (auto it = cone.nodes.rbegin(); it != cone.nodes.rend(); ++it) {
    const Node& node = **it;
    std::vector<Argument> arguments = node.arguments();
    for (Argument& argument : arguments) {
      for (Value* value : argument.values()) {
        argument.replace(value, map.at(value));
      }
    }
    std::vector<Type> types;
    for (size_t i = 0; i < node.num_results(); ++i) {
      types.push_back(node.result(i)->type());
    }
    Node* copy = graph->append(node.op(), std::move(arguments), std::move(types),
                               absl::StrCat("step_", std::distance(cone.nodes.rbegin(), it)));
    for (size_t i = 0; i < node.num_results(); ++i) {
      map[node.result(i)] = copy->result(i);
    }
  }
  std::vector<Value*> outputs;
  const Node& last = *cone.nodes.front();
  for (size_t i = 0; i < last.num_results(); ++i) {
    if (last.result(i)->is_used()) outputs.push_back(map.at(last.result(i)));
  }
  graph->set_outputs(std::move(outputs));
  return graph;
}

// Parameters stay parameters and buffers buffers, wherever those are written.
Constant::Kind kind_of(const Cone& cone) {
  Constant::Kind kind = Constant::Kind::kLiteral;
  for (const Value* value : cone.constants) {
    switch (value->constant()->kind) {
      case Constant::Kind::kParameter:
        return Constant::Kind::kParameter;
      case Constant::Kind::kBuffer:
        kind = Constant::Kind::kBuffer;
        break;
      default:
        break;
    }
  }
  return kind;
}

// What weights that are folded are called: after the first of them and how they
// are folded, "embed.weight@fold_3f2a...", whatever their values are.
std::string name_of(const Cone& cone, const Graph& program) {
  std::string recipe = print_graph(program);
  std::string first;
  for (const Value* value : sorted_constants(cone)) {
    const Constant& constant = *value->constant();
    if (constant.kind == Constant::Kind::kLiteral) {
      absl::StrAppend(&recipe, constant.fqn, " ", to_hex(constant.data.sha256()), "\n");
    } else if (first.empty()) {
      first = constant.fqn;
    }
  }
  const Sha256 digest = sha256_of(
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(recipe.data()), recipe.size()));
  return absl::StrCat(first, "@fold_", to_hex(digest).substr(0, 16));
}

std::vector<std::string> sources_of(const Cone& cone) {
  std::set<std::string> names;
  for (const Value* value : sorted_constants(cone)) {
    const Constant& constant = *value->constant();
    if (constant.kind == Constant::Kind::kLiteral) continue;
    for (std::string& name : constant.sources()) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

// False where that takes too much work or memory.
Rewritten fold(Graph& graph, Node* node, const Cone& cone, Work* work) {
  if (!take_bytes(*node, work)) {
    work->refused.insert(node);
    return false;
  }
  const double estimate = cone.work();
  const Constant::Kind kind = kind_of(cone);
  std::string name;
  std::vector<std::string> made_of;
  if (kind != Constant::Kind::kLiteral) {
    name = name_of(cone, *program_of(cone));
    made_of = sources_of(cone);
  }
  absl::StatusOr<std::vector<Blob>> outputs = absl::ResourceExhaustedError("");
  for (const auto& [times, more] : kTries) {
    const double most = times * estimate + more;
    if (most > work->left || !absl::IsResourceExhausted(outputs.status())) break;
    work->left -= most;
    std::unique_ptr<Graph> program = program_of(cone);
    if (program->any_operator(is_lowered)) {
      PETREL_RETURN_IF_ERROR(lower_to_kernels(*program, PassContext()).status());
    }
    outputs = evaluate(std::move(program), static_cast<uint64_t>(most));
  }
  if (absl::IsResourceExhausted(outputs.status())) {
    work->refused.insert(node);
    return false;
  }
  if (!outputs.ok()) return annotate(outputs.status(), node->describe());
  std::vector<Value*> values(node->num_results(), nullptr);
  size_t next = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!node->result(i)->is_used()) continue;
    Blob data = std::move((*outputs)[next++]);
    std::string fqn = name;
    if (kind == Constant::Kind::kLiteral) {
      fqn = absl::StrCat("folded_", to_hex(data.sha256()).substr(0, 16));
    } else if (values.size() > 1) {
      absl::StrAppend(&fqn, "_", i);
    }
    values[i] =
        add_unique_constant(graph, fqn, node->result(i)->tensor(), std::move(data), kind, made_of);
  }
  Builder b(graph, node);
  PETREL_RETURN_IF_ERROR(b.replace(*node, values));
  return true;
}

bool is_used(const Node& node) {
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (node.result(i)->is_used()) return true;
  }
  return false;
}

// Whether something that is not folded itself needs a result of `node`.
bool is_needed(const Node& node, const std::set<Node*>& folded) {
  for (size_t i = 0; i < node.num_results(); ++i) {
    const Value* result = node.result(i);
    if (result->output_uses() > 0) return true;
    for (Node* user : result->users()) {
      if (folded.count(user) == 0) return true;
    }
  }
  return false;
}

Rewritten fold_nodes(Graph& graph, Work* work) {
  std::set<Node*> folded = find_candidates(graph, *work);
  // From the end: what is not worth folding needs its operands instead.
  std::vector<Node*> needed;
  const std::vector<Node*> nodes = graph.node_pointers();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    Node* node = *it;
    if (folded.count(node) == 0 || !is_needed(*node, folded)) continue;
    int64_t bytes = 0;
    for (size_t i = 0; i < node->num_results(); ++i) {
      if (node->result(i)->is_used()) {
        bytes += node->result(i)->tensor().nbytes();
      }
    }
    bool is_worth_it = bytes <= kSmallBytes;
    if (!is_worth_it) {
      const std::optional<Cone> cone = cone_of(node, work);
      is_worth_it = cone && bytes <= cone->constant_bytes();
    }
    if (is_worth_it) {
      needed.push_back(node);
    } else {
      folded.erase(node);
    }
  }
  bool changed = false;
  for (auto it = needed.rbegin(); it != needed.rend(); ++it) {
    const std::optional<Cone> cone = cone_of(*it, work);
    if (!cone) {
      work->refused.insert(*it);
      continue;
    }
    PETREL_ASSIGN_OR_RETURN(const bool done, fold(graph, *it, *cone, work));
    changed = changed || done;
  }
  // What they were computed from; they themselves are gone.
  for (Node* node : needed) folded.erase(node);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    if (folded.count(*it) > 0 && !is_used(**it)) graph.erase(*it);
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> fold_constants(Graph& graph, const PassContext&) {
  return fold_constants_within(graph, kMostFoldingWork);
}

absl::StatusOr<bool> fold_constants_within(Graph& graph, double most_work, double most_bytes) {
  // Again, because views of folded values fold, and because what is not worth
  // it beside its sources may be beside what was made of them.
  bool changed = false;
  Work work = {most_work, FoldCounts(graph, most_bytes), {}};
  while (true) {
    PETREL_ASSIGN_OR_RETURN(const bool viewed, move_constants(graph, work.counts));
    PETREL_ASSIGN_OR_RETURN(const bool folded, fold_nodes(graph, &work));
    if (!viewed && !folded) return changed;
    changed = true;
  }
}

}  // namespace petrel::exir
