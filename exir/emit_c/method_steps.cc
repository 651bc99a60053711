// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/method_steps.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/emit_c/comment_text.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/emit_c/node_problems.h"
#include "exir/emit_c/node_step.h"
#include "exir/emit_c/operators.h"
#include "exir/emit_c/returns.h"
#include "exir/emit_c/row_step.h"
#include "exir/emit_c/text_files.h"
#include "exir/ir/region_values.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {

namespace {

std::vector<const Value*> results_of(const Node& node) {
  std::vector<const Value*> results;
  for (size_t i = 0; i < node.num_results(); ++i) results.push_back(node.result(i));
  return results;
}

// The function that makes a number of an element that C has no type for.
const char* value_of(ScalarType type) {
  if (type == ScalarType::kHalf) return "petrel_half_value";
  return type == ScalarType::kBFloat16 ? "petrel_bfloat16_value" : "";
}

}  // namespace

std::optional<size_t> pointer_of(const Pointers& pointers, const Storage& storage,
                                 const Value* value) {
  const Value* root = storage.root(value);
  if (!root->is_constant()) return std::nullopt;
  const auto found = pointers.find(root->constant().get());
  if (found == pointers.end()) return std::nullopt;
  return found->second;
}

absl::Status MethodSteps::add_all() {
  const Graph& graph = *sources_.planned.graph;
  PETREL_RETURN_IF_ERROR(add(graph));
  tensors_.end(graph);
  return absl::OkStatus();
}

absl::Status MethodSteps::add(const Graph& graph) {
  const Storage& storage = *sources_.planned.storage;
  for (const Node* node : storage.steps_of(graph)) {
    if (is_nothing(*node, storage)) {
      tensors_.pass(*node);
      continue;
    }
    if (finds_size(*node)) {
      PETREL_RETURN_IF_ERROR(add_found(*node));
      continue;
    }
    PETREL_RETURN_IF_ERROR(node->is(petrel_ops::cond)                    ? add_cond(*node)
                           : node->is(petrel_ops::while_loop)            ? add_while_loop(*node)
                           : node->is(petrel_ops::map, petrel_ops::scan) ? add_rows(*node)
                                                                         : add_node(*node));
  }
  return absl::OkStatus();
}

size_t MethodSteps::add_jump(const Node& node, CJump jump) {
  CStep step;
  step.comment = comment_of(node);
  step.jump = std::move(jump);
  method_->steps.push_back(std::move(step));
  return method_->steps.size() - 1;
}

// jump to A unless %p | true branch | jump to B | A: false branch | B:
absl::Status MethodSteps::add_cond(const Node& node) {
  const size_t to_false = add_jump(node, {sources_.places.bytes(node.input(arg::predicate)), 0});
  PETREL_RETURN_IF_ERROR(add(*node.regions()[0]));
  const size_t to_end = add_jump(node, {"", 0});
  method_->steps[to_false].jump->to = method_->steps.size();
  PETREL_RETURN_IF_ERROR(add(*node.regions()[1]));
  method_->steps[to_end].jump->to = method_->steps.size();
  return absl::OkStatus();
}

// results = carried
// A: condition | jump to B unless %p | body | results = its outputs | jump to A
// B:
absl::Status MethodSteps::add_while_loop(const Node& node) {
  const Graph& condition = *node.regions()[0];
  const Graph& body = *node.regions()[1];
  const std::vector<Value*> carried = region_values(node).carried;
  for (size_t i = 0; i < carried.size(); ++i) add_copy(node, carried[i], node.result(i));
  const size_t begin = method_->steps.size();
  PETREL_RETURN_IF_ERROR(add(condition));
  const size_t to_end = add_jump(node, {sources_.places.bytes(condition.outputs()[0]), 0});
  PETREL_RETURN_IF_ERROR(add(body));
  for (size_t i = 0; i < carried.size(); ++i) add_copy(node, body.outputs()[i], node.result(i));
  add_jump(node, {"", begin});
  method_->steps[to_end].jump->to = method_->steps.size();
  tensors_.repeat(begin + 1, method_->steps.size());
  return absl::OkStatus();
}

// first results = carried | round = 0 | jump to B if there are no rows
// A: the rows of the round of all operands | body
//    its outputs become the first results and the rows of the round of the others
// round = round + 1 | jump to A if there is such a row
// B:
absl::Status MethodSteps::add_rows(const Node& node) {
  const Graph& body = *node.regions()[0];
  const auto [carried, rows, operands] = region_values(node);
  for (size_t i = 0; i < carried.size(); ++i) add_copy(node, carried[i], node.result(i));
  const Extent count = extents_of(rows[0]->tensor())[0];
  if (count == 0) return absl::OkStatus();
  const size_t counter = method_->loops++;
  const bool may_be_none = count.range().low < 1;
  const CRounds rounds = {counter, may_be_none ? count.text() : "", true};
  const size_t enter = add_jump(node, {"", 0, rounds});
  const size_t begin = method_->steps.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    add_copy(node, rows[i], body.inputs()[carried.size() + i], Row::kFrom, counter);
  }
  PETREL_RETURN_IF_ERROR(add(body));
  for (size_t i = 0; i < carried.size(); ++i) add_copy(node, body.outputs()[i], node.result(i));
  for (size_t i = carried.size(); i < node.num_results(); ++i) {
    add_copy(node, body.outputs()[i], node.result(i), Row::kTo, counter);
  }
  add_jump(node, {"", begin, CRounds{counter, count.text(), false}});
  method_->steps[enter].jump->to = method_->steps.size();
  tensors_.repeat(begin + 1, method_->steps.size());
  return absl::OkStatus();
}

// What it finds must be in the range that the model was exported for.
absl::Status MethodSteps::add_found(const Node& node) {
  const Value* from = node.operands()[0];
  const auto is_it = [&node](const MethodSize& size) { return size.finder == &node; };
  const auto size = std::find_if(method_->sizes.begin(), method_->sizes.end(), is_it);
  if (size == method_->sizes.end()) return absl::OkStatus();  // two nodes find one
  const std::string& big = sources_.package.capitals;
  CStep step;
  step.function = absl::StrCat("op", method_->steps.size(), "_item");
  step.kernel = "aten::_local_scalar_dense";
  step.node = node.result()->name();
  step.comment = comment_of(node);
  const std::string read = sources_.places.read(from);
  step.body =
      size->is_real
          ? absl::StrCat("  *found = (double)", value_of(from->tensor().dtype), "(*", read, ");\n")
          : absl::StrCat("  const int64_t number = (int64_t)*", read, ";\n",
                         return_if(absl::StrCat("number < ", size->range.low, " || number > ",
                                                size->range.high),
                                   big + "_E_DATA"),
                         "  *found = number;\n  return ", big, "_OK;\n");
  PETREL_RETURN_IF_ERROR(library_->need_functions_in(step.body));
  step.can_fail = !size->is_real;
  step.finds = size->member;
  step.finds_number = size->is_real;
  take_arguments({from}, &step);
  tensors_.add({from}, {}, method_->steps.size() + 1, &step);
  step.source = node.source().location();
  method_->steps.push_back(std::move(step));
  return absl::OkStatus();
}

// How many data tell must be in the range that the model was exported for, and as many as another
// step has found where that is the same size.
void MethodSteps::end_count(const Node& node, CStep* step) const {
  const std::string& big = sources_.package.capitals;
  const Extent extent(node.result()->tensor().size(*dim_by_data(node)));
  const auto is_it = [&node](const MethodSize& size) { return size.finder == &node; };
  const auto size = std::find_if(method_->sizes.begin(), method_->sizes.end(), is_it);
  if (size == method_->sizes.end()) {
    absl::StrAppend(&step->body,
                    return_if(absl::StrCat("number != (", extent.text(), ")"), big + "_E_DATA"));
  } else {
    absl::StrAppend(&step->body,
                    return_if(absl::StrCat("number < ", std::max<int64_t>(0, size->range.low),
                                           " || number > ", size->range.high),
                              big + "_E_DATA"),
                    "  *found = number;\n");
    step->finds = size->member;
  }
  absl::StrAppend(&step->body, "  return ", big, "_OK;\n");
}

void MethodSteps::add_copy(const Node& node, const Value* from, const Value* to, Row row,
                           size_t counter) {
  const Places& places = sources_.places;
  const TensorType& type = (row == Row::kFrom ? to : from)->tensor();
  if (type.nbytes() == 0) return;
  const Extent count = numel_of(type);
  const std::string place =
      absl::StrCat("(size_t)round * ", count.is_number() ? absl::StrCat(count.number(), "u")
                                                         : "(size_t)(" + count.text() + ")");
  const std::string source = places.read(from, row == Row::kFrom ? place : "");
  const std::string target = places.write(to, row == Row::kTo ? place : "");
  if (!places.has_symbol(from) && row == Row::kNone && places.bytes(from) == places.bytes(to)) {
    return;
  }
  CStep step;
  step.function = absl::StrCat("op", method_->steps.size(), row == Row::kNone ? "_carry" : "_row");
  step.kernel = row == Row::kNone   ? "aten::clone.out"
                : row == Row::kFrom ? "aten::select_copy.int_out"
                                    : "executorch_prim::et_copy_index.tensor";
  step.node = to->name();
  step.comment = absl::StrCat(comment_text(node.describe()), "\n  '", comment_text(from->name()),
                              "' to '", comment_text(to->name()), "'");
  step.body = absl::StrCat("  (void)memcpy(", target, ",\n      (const void *)(", source, "), ",
                           bytes_text(type), ");\n");
  if (row != Row::kNone) step.round = counter;
  take_arguments({from}, &step);
  tensors_.add({from}, {to}, method_->steps.size() + 1, &step);
  step.source = node.source().location();
  method_->steps.push_back(std::move(step));
}

// The operands that the result of a step lies over.
std::vector<CShared> MethodSteps::shared_in(const Node& node) const {
  const PlannedMethod& planned = sources_.planned;
  std::vector<CShared> shared;
  if (node.num_results() != 1) return shared;
  const MemoryPlan& plan = planned.plan;
  const Value* result = planned.storage->root(node.result());
  const auto to = plan.offsets.find(result);
  if (to == plan.offsets.end()) return shared;
  std::set<const Value*> seen = {result};
  for (const Value* operand : planned.storage->operands_of(node)) {
    const Value* root = planned.storage->root(operand);
    const auto from = plan.offsets.find(root);
    if (from == plan.offsets.end() || !seen.insert(root).second) continue;
    const bool is_one_pool = plan.pools.empty() || plan.pools.at(root) == plan.pools.at(result);
    const int64_t bytes = operand->tensor().nbytes();
    const int64_t lead = from->second - to->second;
    if (!is_one_pool || lead >= node.result()->tensor().nbytes() || -lead >= bytes) continue;
    shared.push_back({operand->name(), sources_.places.bytes(operand), bytes, lead});
  }
  return shared;
}

absl::Status MethodSteps::add_node(const Node& node) {
  const PlannedMethod& planned = sources_.planned;
  const Package& package = sources_.package;
  const std::string number = absl::StrCat("op", method_->steps.size());
  const RowBlock* block =
      package.pools->kernels == nullptr ? nullptr : package.pools->kernels->find_block(&node);
  absl::StatusOr<CStep> made =
      node.delegate() != nullptr
          ? make_delegate_step(node, sources_.delegates.at(&node), sources_.places,
                               ProcessorUse(planned), planned, number, package)
      : block != nullptr
          ? make_row_step(*block, sources_.places, *planned.storage, number, package, library_)
          : make_step(node, *find_operator(kernel_of(node, *planned.storage)), sources_.places,
                      number, package, library_);
  if (absl::IsUnimplemented(made.status())) {
    problems_.push_back(absl::StrCat(node.describe(), ": ", made.status().message()));
    return absl::OkStatus();
  }
  PETREL_RETURN_IF_ERROR(annotate(made.status(), node.describe()));
  if (made->body.empty()) {
    tensors_.pass(node);
    return absl::OkStatus();
  }
  CStep step = *std::move(made);
  if (step.counts) end_count(node, &step);
  take_arguments(planned.storage->operands_of(node), &step);
  step.shared = shared_in(node);
  const std::vector<Value*> operands = node.operands();
  tensors_.add({operands.begin(), operands.end()}, results_of(node), method_->steps.size() + 1,
               &step);
  step.source = node.source().location();
  method_->steps.push_back(std::move(step));
  return absl::OkStatus();
}

void MethodSteps::take_arguments(const std::vector<const Value*>& operands, CStep* step) const {
  const auto note = [&](const std::string& variable) {
    if (!absl::StrContains(step->body, absl::StrCat("(", variable, " + "))) return;
    step->memories.push_back(variable);
  };
  for (const CMemory& memory : sources_.package.memories) note(memory.variable);
  std::set<std::string> variables;
  for (const auto& [root, variable] : sources_.borrowed) variables.insert(variable);
  for (const std::string& variable : variables) note(variable);
  std::set<size_t> pointers;
  for (const Value* operand : operands) {
    const std::optional<size_t> pointer =
        pointer_of(sources_.pointers, *sources_.planned.storage, operand);
    if (pointer.has_value() &&
        has_word(step->body, sources_.package.parameters[*pointer].variable)) {
      pointers.insert(*pointer);
    }
  }
  step->parameters.assign(pointers.begin(), pointers.end());
  step->sizes = absl::StrContains(step->body, "sizes->");
}

}  // namespace petrel::exir::emit_c
