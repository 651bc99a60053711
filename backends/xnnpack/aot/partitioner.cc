// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/partitioner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/costs.h"
#include "backends/xnnpack/aot/dynamic_input.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/stored_weight.h"
#include "backends/xnnpack/aot/varying_partition.h"
#include "backends/xnnpack/format/shape_rules.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::Support;

// `what` goes before the value's name: "result 'x' is ...".
Support check_value(const char* what, const exir::Value& value, exir::ScalarType dtype) {
  const auto no = [&](const std::string& why) {
    return Support::no(absl::StrCat(what, " '", value.name(), "' ", why));
  };
  if (!value.type().is_tensor()) return no("is a number computed at run time");
  const exir::TensorType& type = value.tensor();
  if (type.dtype != dtype) {
    return no(absl::StrCat("is ", exir::to_string(type), ", must be ",
                           dtype == exir::ScalarType::kChar   ? "i8"
                           : dtype == exir::ScalarType::kHalf ? "f16"
                                                              : "f32"));
  }
  // A constant of rank 0 is written as [1], also one that is dequantised.
  const bool is_number = value.is_constant() || (type.rank() == 0 && stored_constant(&value));
  const size_t minimum = is_number ? 0 : 1;
  if (type.rank() < minimum || type.rank() > kMaxValueRank) {
    return no(absl::StrCat("has rank ", type.rank(), ", must be in [", minimum, ", ", kMaxValueRank,
                           "]"));
  }
  if (type.numel() == 0) return no("has no elements");
  if (static_cast<uint64_t>(type.nbytes()) > kMaxValueBytes) {
    return no(absl::StrCat("has ", type.nbytes(), " bytes, must be at most ", kMaxValueBytes));
  }
  if (!value.is_constant() && !type.is_contiguous()) return no("is not contiguous");
  if (value.is_constant() && value.constant()->is_mutable()) return no("is a mutable buffer");
  return Support::yes();
}

bool is_conversion(const exir::Node& node) {
  return node.is(exir::quantized_decomposed::quantize_per_tensor,
                 exir::quantized_decomposed::dequantize_per_tensor,
                 exir::quantized_decomposed::dequantize_per_channel,
                 exir::quantized_decomposed::dequantize_per_channel_group,
                 exir::torchao::dequantize_affine);
}

// Of int8 where it is quantised; scales and zero points are its row's matter.
Support check_conversion(const exir::Node& node) {
  const bool quantizes = node.is(exir::quantized_decomposed::quantize_per_tensor);
  const auto int8 = exir::ScalarType::kChar;
  const auto f32 = exir::ScalarType::kFloat;
  Support s = check_value("operand", *node.input(arg::input), quantizes ? f32 : int8);
  return s.supported ? check_value("result", *node.result(), quantizes ? int8 : f32) : s;
}

bool is_float(const exir::Value& value) {
  const exir::ScalarType dtype = value.tensor().dtype;
  return dtype == exir::ScalarType::kFloat || dtype == exir::ScalarType::kHalf;
}

// Between f32 and f16.
Support check_cast(const exir::Node& node) {
  const exir::Value* operand = node.input(arg::self);
  const auto dtype_of = [](const exir::Value& value) {
    return is_float(value) ? value.tensor().dtype : exir::ScalarType::kFloat;
  };
  if (operand->is_constant()) return Support::no("it casts a constant");
  if (Support s = check_value("operand", *operand, dtype_of(*operand)); !s.supported) return s;
  return check_value("result", *node.result(), dtype_of(*node.result()));
}

Support check_operands(const exir::Node& node) {
  if (node.is(aten::_to_copy)) return check_cast(node);
  const exir::Type& type = node.result()->type();
  const bool is_half = type.is_tensor() && node.result()->tensor().dtype == exir::ScalarType::kHalf;
  const auto dtype = is_half ? exir::ScalarType::kHalf : exir::ScalarType::kFloat;
  if (Support s = check_value("result", *node.result(), dtype); !s.supported) return s;
  bool computes = false;
  for (const exir::Value* operand : node.operands()) {
    if (Support s = check_value("operand", *operand, dtype); !s.supported) return s;
    computes |= !operand->is_constant();
  }
  return computes ? Support::yes() : Support::no("all operands are constants");
}

// By groups of elements XNNPACK multiplies only what it quantised at run time. Not for its
// row to check, which sees the node by itself where sizes vary.
Support check_input_of_groups(const exir::Node& node) {
  if (!node.is(aten::linear) || dynamic_source(node.input(arg::input)) != nullptr) {
    return Support::yes();
  }
  const auto stored = stored_weight(node.input(arg::weight));
  if (!stored || stored->group_size == 0) return Support::yes();
  return Support::no("its weight has groups, and its input is not quantised");
}

}  // namespace

Support XnnpackPartitioner::supports(const exir::Node& node) const {
  const OpRow* row = find_row(node.op());
  if (row == nullptr) return Support::no("XNNPACK has no such operator");
  if (is_dynamic_conversion(node)) {
    return check_dynamic_conversion(node, [this](const exir::Node& user) {
      const OpRow* product = find_row(user.op());
      if (product == nullptr || product->check_dynamic == nullptr) {
        return Support::no("it takes what was quantised at run time");
      }
      const Support s = supports(user);
      return s.supported ? product->check_dynamic(user) : s;
    });
  }
  if (node.num_results() != 1) {
    return Support::no(absl::StrCat("it has ", node.num_results(), " results, must have 1"));
  }
  const Support values = is_conversion(node) ? check_conversion(node) : check_operands(node);
  if (!values.supported) return values;
  bool varies = node.result()->type().is_dynamic();
  for (const exir::Value* operand : node.operands()) varies |= operand->type().is_dynamic();
  if (Support s = row->check(node); !s.supported) return s;
  if (Support s = check_input_of_groups(node); !s.supported) return s;
  return varies ? supports_varying(node) : Support::yes();
}

bool XnnpackPartitioner::keeps(const exir::OpInfo& op) const { return find_row(op) != nullptr; }

bool XnnpackPartitioner::worthwhile(const std::vector<const exir::Node*>& nodes) const {
  return std::any_of(nodes.begin(), nodes.end(), [](const exir::Node* node) {
    const OpRow* row = find_row(node->op());
    return row != nullptr && !row->needs_company;
  });
}

std::optional<exir::GroupCosts> XnnpackPartitioner::costs(const exir::Graph& partition) const {
  return costs_of(partition);
}

size_t XnnpackPartitioner::most_inputs_and_outputs() const { return kMaxExternals; }

}  // namespace petrel::backends::xnnpack::aot
