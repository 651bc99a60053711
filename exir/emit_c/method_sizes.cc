// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/method_sizes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/index_walk.h"
#include "exir/emit_c/names.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

// What a dim of this size tells: factor * symbol + shift; nullopt for more than that.
std::optional<MethodSize> told_by(const SizeExpression& size) {
  if (size.is_constant() || size.terms().size() != 1) return std::nullopt;
  const SizeTerm& term = size.terms()[0];
  if (term.factors.size() != 1 || term.factors[0]->kind != SizeAtom::Kind::kSymbol ||
      term.coefficient < 1) {
    return std::nullopt;
  }
  MethodSize told;
  told.symbol = term.factors[0]->symbol->name;
  told.range = term.factors[0]->symbol->range;
  told.factor = term.coefficient;
  told.shift = size.constant();
  return told;
}

bool is_simpler(const MethodSize& a, const MethodSize& b) {
  const auto rank = [](const MethodSize& size) {
    return size.factor != 1 ? 2 : size.shift != 0 ? 1 : 0;
  };
  return rank(a) < rank(b);
}

using NamedSymbols = std::map<std::string, std::shared_ptr<const SizeSymbol>>;

// Without bounds nobody knows what would be computed of it.
bool has_bounds(const SizeRange& range) {
  return range.low >= std::numeric_limits<int32_t>::min() &&
         range.high <= std::numeric_limits<int32_t>::max();
}

bool finds_number(const Node& node) {
  return finds_size(node) && node.result()->type().kind == Type::Kind::kFloat;
}

// Two that are called alike would be one; regions inside of regions are called by their path.
absl::Status add_numbers(const Graph& graph, Names* names, std::vector<MethodSize>* sizes) {
  for (const auto& node : graph.nodes()) {
    for (const auto& region : node->regions()) {
      PETREL_RETURN_IF_ERROR(add_numbers(*region, names, sizes));
    }
    if (!finds_number(*node)) continue;
    MethodSize number;
    number.symbol = node->result()->name();
    number.member = number_member(node->result());
    number.finder = node.get();
    number.is_real = true;
    PETREL_RETURN_IF_ERROR(names->add(number.member).status());
    sizes->push_back(std::move(number));
  }
  return absl::OkStatus();
}

// What a node finds that may become a size.
MaybeSize found_by(const Node& node) {
  if (finds_size(node)) return node.result()->type().number;
  const std::optional<size_t> dim = dim_by_data(node);
  if (!dim.has_value()) return std::nullopt;
  return node.result()->tensor().size(*dim);
}

void find_in_steps(const Graph& graph, std::map<std::string, MethodSize>* best,
                   NamedSymbols* symbols) {
  for (const auto& node : graph.nodes()) {
    for (const auto& region : node->regions()) find_in_steps(*region, best, symbols);
    const MaybeSize number = found_by(*node);
    if (!number.has_value()) continue;
    std::optional<MethodSize> told = told_by(*number);
    if (!told.has_value() || told->factor != 1 || told->shift != 0 || !has_bounds(told->range)) {
      continue;
    }
    told->finder = node.get();
    if (best->emplace(told->symbol, *told).second) number->collect_symbols(symbols);
  }
}

}  // namespace

bool finds_size(const Node& node) { return node.is(aten::_local_scalar_dense); }

std::optional<size_t> dim_by_data(const Node& node) {
  if (node.is(aten::nonzero, aten::masked_select, aten::repeat_interleave_Tensor)) return 0;
  if (!node.is(aten::index_Tensor)) return std::nullopt;
  size_t dim = 0;
  const Value* index = single_index(node, &dim);
  const bool is_by_mask = index != nullptr && is_mask(index->tensor());
  return is_by_mask ? std::optional<size_t>(dim) : std::nullopt;
}

std::string number_member(const Value* value) {
  return sanitized(absl::StrCat("number_", value->producer()->graph().name(), "_", value->name()));
}

absl::StatusOr<std::vector<MethodSize>> find_sizes(const Graph& graph) {
  std::map<std::string, MethodSize> best;
  NamedSymbols symbols;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value* input = graph.inputs()[i];
    if (!input->type().is_tensor()) continue;
    const std::vector<SizeExpression> dims = input->tensor().all_sizes();
    for (size_t d = 0; d < dims.size(); ++d) {
      dims[d].collect_symbols(&symbols);
      std::optional<MethodSize> told = told_by(dims[d]);
      if (!told.has_value()) continue;
      told->input = i;
      told->dim = d;
      const auto [known, fresh] = best.emplace(told->symbol, *told);
      if (!fresh && is_simpler(*told, known->second)) known->second = *told;
    }
  }
  find_in_steps(graph, &best, &symbols);
  std::vector<MethodSize> sizes;
  Names names("size", Names::Use::kMember);
  for (const auto& [name, symbol] : symbols) {
    const auto found = best.find(name);
    if (found == best.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no dim of an input tells the size '", name, "'"));
    }
    PETREL_RETURN_IF_ERROR(names.add(name).status());
    found->second.member = size_member(name);
    sizes.push_back(found->second);
  }
  PETREL_RETURN_IF_ERROR(add_numbers(graph, &names, &sizes));
  return sizes;
}

std::string problem_of_size(const SizeExpression& size, const std::vector<MethodSize>& sizes) {
  if (Extent(size).text().empty()) {
    return absl::StrCat("the size ", to_string(size), " cannot be computed in C yet");
  }
  NamedSymbols symbols;
  size.collect_symbols(&symbols);
  for (const auto& symbol : symbols) {
    const std::string& name = symbol.first;
    const bool is_told = std::any_of(sizes.begin(), sizes.end(),
                                     [&](const MethodSize& one) { return one.symbol == name; });
    if (!is_told) return absl::StrCat("no input tells the size '", name, "'");
  }
  return "";
}

std::string problem_of_sizes(const TensorType& type, const std::vector<MethodSize>& sizes) {
  if (!type.is_dynamic()) return "";
  for (const SizeExpression& size : type.all_sizes()) {
    if (std::string problem = problem_of_size(size, sizes); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace petrel::exir::emit_c
