// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/quantized_embeddings.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/constant_facts.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// How a table is stored in its rows.
struct Table {
  Value* levels;  // i8, or u8 of 8 bits
  int64_t rows;
  int64_t columns;
  int64_t groups;  // in a row
  int bits = 8;

  int64_t low() const {
    return levels->tensor().dtype == ScalarType::kByte ? 0 : -(int64_t{1} << (bits - 1));
  }
  int64_t high() const { return low() + (int64_t{1} << bits) - 1; }
};

bool is_fixed(const Argument& argument) {
  return argument.is_value() && argument.value()->is_constant() &&
         !argument.value()->constant()->is_mutable();
}

// Elements with one scale; nullopt where they do not lie in one row.
std::optional<int64_t> group_size(const Node& node, const Sizes& sizes) {
  if (node.is(quantized_decomposed::dequantize_per_channel)) {
    if (fixed_int(node.argument(arg::axis)) != 0) return std::nullopt;
    return sizes[1];
  }
  if (node.is(quantized_decomposed::dequantize_per_channel_group)) {
    return fixed_int(node.argument(arg::group_size));
  }
  const rules::Sizes block = sizes_in(node.argument(arg::block_size), sizes.size());
  if (block.size() != 2 || !block[0].is(1)) return std::nullopt;
  return static_cast<int64_t>(block[1]);
}

// Levels times scales of 16 bits are numbers of f32, which casts round as PyTorch does.
bool is_taken(ScalarType floats) {
  return floats == ScalarType::kFloat || floats == ScalarType::kHalf ||
         floats == ScalarType::kBFloat16;
}

// Of a value that is a table of floats; nullopt for others.
std::optional<Table> table_of(const Value* value) {
  const Node* node = value->producer();
  if (node == nullptr ||
      !node->is(torchao::dequantize_affine, quantized_decomposed::dequantize_per_channel,
                quantized_decomposed::dequantize_per_channel_group) ||
      !is_taken(value->tensor().dtype)) {
    return std::nullopt;
  }
  const Argument& zero_point = node->argument(arg::zero_point, arg::zero_points);
  if (!is_fixed(node->argument(arg::input)) || !is_fixed(node->argument(arg::scale, arg::scales)) ||
      (!zero_point.is_none() && !is_fixed(zero_point))) {
    return std::nullopt;
  }
  Value* levels = node->input(arg::input);
  const TensorType& type = levels->tensor();
  const bool is_signed = type.dtype == ScalarType::kChar;
  if ((!is_signed && type.dtype != ScalarType::kByte) || type.rank() != 2 || type.numel() == 0) {
    return std::nullopt;
  }
  const std::optional<int64_t> group = group_size(*node, type.sizes);
  if (!group || *group < 1 || type.sizes[1] % *group != 0) return std::nullopt;
  Table table = {levels, type.sizes[0], type.sizes[1], type.sizes[1] / *group};
  for (const int bits : {2, 4}) {
    const int64_t low = -(int64_t{1} << (bits - 1));
    if (is_signed && node->argument(arg::quant_min) == Argument(low) &&
        node->argument(arg::quant_max) == Argument(-low - 1) && table.columns % (8 / bits) == 0) {
      table.bits = bits;
    }
  }
  return table;
}

absl::StatusOr<Value*> packed(Graph& graph, const Table& table) {
  const Constant& source = *table.levels->constant();
  const Blob levels = in_row_major_order(source.data, source.type);
  const Blob::Bytes checked = levels.bytes();
  for (const uint8_t byte : checked.span()) {
    const int level = static_cast<int8_t>(byte);
    if (level >= table.low() && level <= table.high()) continue;
    return absl::InvalidArgumentError(absl::StrCat("table '", source.fqn, "' has the level ", level,
                                                   ", must be in [", table.low(), ", ",
                                                   table.high(), "]"));
  }
  const int bits = table.bits;
  const auto per_byte = static_cast<size_t>(8 / bits);
  const auto produce = [levels, bits, per_byte](absl::Span<uint8_t> out) {
    const Blob::Bytes bytes = levels.bytes();
    const int middle = 1 << (bits - 1);
    for (size_t i = 0; i < out.size(); ++i) {
      int byte = 0;
      for (size_t k = 0; k < per_byte; ++k) {
        // The first of two is in the high bits, of four in the low ones.
        const size_t place = bits == 4 ? per_byte - 1 - k : k;
        const int level = static_cast<int8_t>(bytes.data()[i * per_byte + k]) + middle;
        byte |= level << (static_cast<int>(place) * bits);
      }
      out[i] = static_cast<uint8_t>(byte);
    }
  };
  const auto type = TensorType::contiguous(
      ScalarType::kByte, {table.rows, table.columns / static_cast<int64_t>(per_byte)});
  return add_unique_constant(graph, absl::StrCat(source.fqn, "#", bits, "bit"), type,
                             Blob::produced(static_cast<size_t>(type.nbytes()), produce),
                             source.kind, source.sources());
}

// The packed tables of levels, each made once.
using PackedTables = std::map<std::pair<const Value*, int>, Value*>;

absl::Status look_up(Graph& graph, Node* node, const Table& table, bool keep_weights,
                     PackedTables* packed_tables) {
  const Node& dequantize = *node->input(arg::weight)->producer();
  Builder b(graph, node);
  const rules::Sizes groups = {table.rows, table.groups};
  PETREL_ASSIGN_OR_RETURN(Value * scale, b.view(dequantize.input(arg::scale, arg::scales), groups));
  PETREL_ASSIGN_OR_RETURN(scale, b.cast(scale, ScalarType::kFloat));
  Arg zeros = none();
  const Argument& zero_points = dequantize.argument(arg::zero_point, arg::zero_points);
  if (zero_points.is_value() && (keep_weights || !is_zero(zero_points.value()->constant()))) {
    PETREL_ASSIGN_OR_RETURN(Value * zero_point, b.view(zero_points.value(), groups));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.cast(zero_point, ScalarType::kFloat));
    zeros = Arg(zero_point);
  }
  Value* levels = table.levels;
  if (table.bits < 8) {
    Value*& known = (*packed_tables)[{table.levels, table.bits}];
    if (known == nullptr) {
      PETREL_ASSIGN_OR_RETURN(known, packed(graph, table));
    }
    levels = known;
  }
  const OpHandle op = table.bits == 8   ? quantized_decomposed::embedding_byte
                      : table.bits == 4 ? quantized_decomposed::embedding_4bit
                                        : quantized_decomposed::embedding_2bit;
  PETREL_ASSIGN_OR_RETURN(Value * rows, b.call(op, {levels, scale, zeros, table.low(), table.high(),
                                                    node->input(arg::indices)}));
  PETREL_ASSIGN_OR_RETURN(rows, b.cast(rows, node->result()->tensor().dtype));
  return b.replace(*node, rows);
}

}  // namespace

absl::StatusOr<bool> quantized_embeddings(Graph& graph, const PassContext& context) {
  bool changed = false;
  const ConstantFacts facts;
  PackedTables packed_tables;
  for (Node* node : graph.node_pointers()) {
    if (!node->is(aten::embedding)) continue;
    const std::optional<Table> table = table_of(node->input(arg::weight));
    if (!table) continue;
    const std::string where = node->describe();
    if (const absl::Status status =
            look_up(graph, node, *table, context.keep_weights, &packed_tables);
        !status.ok()) {
      return annotate(status, where);
    }
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
