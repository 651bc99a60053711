// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/text.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace petrel::exir {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '/' || c == '@';
}

std::string quoted(const std::string& text) {
  return absl::StrCat("\"", absl::CEscape(text), "\"");
}

std::string sigil_name(char sigil, const std::string& name) {
  bool plain = !name.empty();
  for (char c : name) plain = plain && is_word_char(c);
  return absl::StrCat(std::string(1, sigil), plain ? name : quoted(name));
}

// The shortest text that reads back as the same double and shows that it is no
// integer.
std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  if (!absl::StrContains(text, '.') && !absl::StrContains(text, 'e')) {
    return absl::StrCat(text, ".0");
  }
  return text;
}

const char* memory_format_text(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::kContiguous:
      return "contiguous_format";
    case MemoryFormat::kPreserve:
      return "preserve_format";
    case MemoryFormat::kChannelsLast:
      return "channels_last";
    case MemoryFormat::kChannelsLast3d:
      return "channels_last_3d";
  }
  return "";
}

void append_argument(const Argument& argument, std::string* out) {
  if (argument.is_none()) {
    absl::StrAppend(out, "none");
  } else if (argument.is_value()) {
    absl::StrAppend(out, sigil_name('%', argument.value()->name()));
  } else if (argument.is_int()) {
    absl::StrAppend(out, argument.as_int());
  } else if (argument.is_float()) {
    absl::StrAppend(out, float_text(argument.as_float()));
  } else if (argument.is_bool()) {
    absl::StrAppend(out, argument.as_bool() ? "true" : "false");
  } else if (argument.is_string()) {
    absl::StrAppend(out, quoted(argument.as_string()));
  } else if (argument.is_scalar_type()) {
    out->append(scalar_type_name(argument.as_scalar_type()));
  } else if (argument.is_memory_format()) {
    absl::StrAppend(out, memory_format_text(argument.as_memory_format()));
  } else if (argument.is_ints()) {
    absl::StrAppend(out, "[", absl::StrJoin(argument.as_ints(), ", "), "]");
  } else {
    Argument::List items;
    if (argument.is_floats()) {
      for (double item : argument.as_floats()) items.emplace_back(item);
    } else if (argument.is_bools()) {
      for (bool item : argument.as_bools()) items.emplace_back(item);
    } else {
      items = argument.as_list();
    }
    absl::StrAppend(out, "[");
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) absl::StrAppend(out, ", ");
      append_argument(items[i], out);
    }
    absl::StrAppend(out, "]");
  }
}

std::string names_of(const std::vector<Value*>& values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const Value* value) {
    out->append(sigil_name('%', value->name()));
  });
}

using Symbols = std::map<std::string, std::shared_ptr<const SizeSymbol>>;

void collect_symbols(const Type& type, Symbols* out) {
  if (type.number) type.number->collect_symbols(out);
  for (const SizeExpression& size : type.tensor.expressions) size.collect_symbols(out);
}

void collect_symbols(const Graph& graph, Symbols* out) {
  for (const Value* input : graph.inputs()) collect_symbols(input->type(), out);
  for (const auto& node : graph.nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) collect_symbols(node->result(i)->type(), out);
    for (const auto& region : node->regions()) collect_symbols(*region, out);
  }
}

std::string graph_text(const Graph& graph, const Symbols& symbols,
                       const std::set<std::string>& unbounded);

void append_node(const Node& node, std::string* out) {
  absl::StrAppend(out, "  ");
  std::vector<Value*> results;
  for (size_t i = 0; i < node.num_results(); ++i) {
    results.push_back(node.result(i));
  }
  if (!results.empty()) absl::StrAppend(out, names_of(results), " = ");
  absl::StrAppend(out, node.op().full_name(), "(");
  for (size_t i = 0; i < node.arguments().size(); ++i) {
    if (i > 0) absl::StrAppend(out, ", ");
    append_argument(node.arguments()[i], out);
  }
  absl::StrAppend(out, ")");
  for (size_t i = 0; i < results.size(); ++i) {
    absl::StrAppend(out, i == 0 ? " : " : ", ", to_string(results[i]->type()));
  }
  if (!node.regions().empty()) {
    absl::StrAppend(out, " do {\n");
    for (const auto& region : node.regions()) {
      for (absl::string_view line :
           absl::StrSplit(graph_text(*region, {}, {}), '\n', absl::SkipEmpty())) {
        absl::StrAppend(out, "    ", line, "\n");
      }
    }
    absl::StrAppend(out, "  }");
  }
  absl::StrAppend(out, "\n");
}

// `symbols` are those to declare, without the upper end where they are `unbounded`.
std::string graph_text(const Graph& graph, const Symbols& symbols,
                       const std::set<std::string>& unbounded) {
  std::string out = absl::StrCat("method ", sigil_name('@', graph.name()));
  for (const auto& [name, symbol] : symbols) {
    absl::StrAppend(&out, name == symbols.begin()->first ? "<" : ", ",
                    unbounded.count(name) != 0 ? absl::StrCat(name, ": ", symbol->range.low, "..")
                                               : to_string(*symbol));
  }
  absl::StrAppend(&out, symbols.empty() ? "(" : ">(");
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value* input = graph.inputs()[i];
    absl::StrAppend(&out, i == 0 ? "" : ", ", sigil_name('%', input->name()), ": ",
                    to_string(input->type()));
  }
  absl::StrAppend(&out, ") {\n");
  for (const Value* value : graph.constants()) {
    const Constant& constant = *value->constant();
    absl::StrAppend(&out, "  ", sigil_name('%', value->name()), " = ",
                    constant.is_mutable() ? "state " : "constant ", sigil_name('@', constant.fqn),
                    " : ", to_string(constant.type), "\n");
  }
  for (const auto& node : graph.nodes()) append_node(*node, &out);
  for (const BufferWrite& write : graph.buffer_writes()) {
    absl::StrAppend(&out, "  write ", sigil_name('%', write.value->name()), " to ",
                    sigil_name('%', write.buffer->name()), "\n");
  }
  absl::StrAppend(&out, "  return");
  if (!graph.outputs().empty()) {
    absl::StrAppend(&out, " ", names_of(graph.outputs()));
  }
  absl::StrAppend(&out, "\n}\n");
  return out;
}

}  // namespace

std::string print_graph(const Graph& graph, const std::set<std::string>& unbounded) {
  Symbols symbols;
  collect_symbols(graph, &symbols);
  return graph_text(graph, symbols, unbounded);
}

}  // namespace petrel::exir
