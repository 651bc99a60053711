// SPDX-License-Identifier: Apache-2.0
//
// Numbers that elements of tensors tell, of which nothing says how large they are, but which
// choose a row: they have the bounds of a row, as the run fails with any other.
//
//   %item = aten.item.default(%i)             u0, without bounds
//   %row = aten.select.int(%x, 0, %item)      %x : f32[5,3]: u0 is in [-5, 4]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "exir/import/tensor_meta.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// A dim of a tensor of which a number chooses a row.
struct Rows {
  std::string number;
  int64_t dim = 0;
};

struct Indices {
  std::set<std::string> items;  // numbers that elements of tensors tell
  std::map<std::string, std::vector<Rows>> by_tensor;
};

absl::StatusOr<std::vector<Json>> arguments_of(const Json& node) {
  PETREL_ASSIGN_OR_RETURN(const Json list, node.at("inputs"));
  return list.items();
}

// "item" of {"as_sym_int": {"as_name": "item"}} and {"as_tensor": {"name": "item"}}; "" for others.
std::string named(const Json& holder, const char* tag, const char* key) {
  const std::optional<Json> tagged = holder.find(tag);
  const std::optional<Json> name = tagged ? tagged->find(key) : std::nullopt;
  return name ? name->text().value_or("") : "";
}

// "u0" of "Symbol('u0', integer=True)"; "" for other expressions.
std::string symbol_of(absl::string_view text) {
  const bool is_one =
      absl::ConsumePrefix(&text, "Symbol('") && absl::ConsumeSuffix(&text, "', integer=True)");
  return is_one ? std::string(text) : "";
}

absl::Status add_item(const Json& node, Indices* indices) {
  PETREL_ASSIGN_OR_RETURN(const Json list, node.at("outputs"));
  PETREL_ASSIGN_OR_RETURN(const std::vector<Json> outputs, list.items());
  for (const Json& output : outputs) indices->items.insert(named(output, "as_sym_int", "as_name"));
  return absl::OkStatus();
}

absl::Status add_rows(const Json& node, Indices* indices) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<Json> inputs, arguments_of(node));
  if (inputs.size() != 3) return absl::OkStatus();
  PETREL_ASSIGN_OR_RETURN(const Json self, inputs[0].at("arg"));
  PETREL_ASSIGN_OR_RETURN(const Json dim, inputs[1].at("arg"));
  PETREL_ASSIGN_OR_RETURN(const Json index, inputs[2].at("arg"));
  Rows rows;
  rows.number = named(index, "as_sym_int", "as_name");
  const std::optional<Json> at = dim.find("as_int");
  if (rows.number.empty() || !at) return absl::OkStatus();
  PETREL_ASSIGN_OR_RETURN(rows.dim, at->integer());
  indices->by_tensor[named(self, "as_tensor", "name")].push_back(std::move(rows));
  return absl::OkStatus();
}

absl::StatusOr<Indices> read_indices(const Json& graph) {
  Indices indices;
  PETREL_ASSIGN_OR_RETURN(const Json node_list, graph.at("nodes"));
  PETREL_ASSIGN_OR_RETURN(const std::vector<Json> nodes, node_list.items());
  for (const Json& node : nodes) {
    PETREL_ASSIGN_OR_RETURN(const Json target, node.at("target"));
    PETREL_ASSIGN_OR_RETURN(const std::string_view called, target.text_view());
    if (called == "torch.ops.aten.item.default") {
      PETREL_RETURN_IF_ERROR(add_item(node, &indices));
    } else if (called == "torch.ops.aten.select.int") {
      PETREL_RETURN_IF_ERROR(add_rows(node, &indices));
    }
  }
  return indices;
}

}  // namespace

absl::Status Symbols::bound_indices(const Json& graph) {
  const std::optional<Json> numbers = graph.find("sym_int_values");
  const std::optional<Json> tensors = graph.find("tensor_values");
  if (unbounded_.empty() || !numbers || !tensors) return absl::OkStatus();
  PETREL_ASSIGN_OR_RETURN(Indices indices, read_indices(graph));
  if (indices.by_tensor.empty()) return absl::OkStatus();

  std::map<std::string, int64_t> most;  // rows that a number chooses among
  PETREL_ASSIGN_OR_RETURN(const auto types, tensors->members());
  for (const auto& [name, type] : types) {
    // A name has one meaning, the first.
    const auto asked = indices.by_tensor.extract(name);
    if (asked.empty()) continue;
    PETREL_ASSIGN_OR_RETURN(const Json size_list, type.at("sizes"));
    PETREL_ASSIGN_OR_RETURN(const std::vector<Json> sizes, size_list.items());
    const auto rank = static_cast<int64_t>(sizes.size());
    for (const Rows& rows : asked.mapped()) {
      if (rows.dim < -rank || rows.dim >= rank || indices.items.count(rows.number) == 0) continue;
      const int64_t dim = rows.dim < 0 ? rows.dim + rank : rows.dim;
      const absl::StatusOr<SizeExpression> size = resolve(sizes[static_cast<size_t>(dim)]);
      // Who reads the type says what is wrong with it.
      if (!size.ok() || !SizeRange().holds(size->range().high)) continue;
      most.emplace(rows.number, size->range().high);
    }
  }

  PETREL_ASSIGN_OR_RETURN(const auto values, numbers->members());
  for (const auto& [name, value] : values) {
    const auto rows = most.find(name);
    const std::optional<Json> made = value.find("as_expr");
    if (rows == most.end() || !made) continue;
    PETREL_ASSIGN_OR_RETURN(const Json expression, made->at("expr_str"));
    PETREL_ASSIGN_OR_RETURN(const std::string_view text, expression.text_view());
    const auto symbol = unbounded_.find(symbol_of({text.data(), text.size()}));
    if (symbol == unbounded_.end()) continue;
    const SizeRange range = {std::max(symbol->second, -rows->second), rows->second - 1};
    if (!range.is_empty()) bounded_.emplace(symbol->first, SizeExpression(symbol->first, range));
  }
  resolved_.clear();  // what had no bounds may have some
  return absl::OkStatus();
}

}  // namespace petrel::exir
