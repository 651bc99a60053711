// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/transposed_phases.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/integer/product_arguments.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

absl::StatusOr<ProductWeight> weight_of_phases(Builder& b, const ProductWeight& stored,
                                               const TransposedPhases& phases) {
  const Constant& constant = *stored.levels->constant();
  PETREL_ASSIGN_OR_RETURN(std::vector<double> levels, decode_constant(constant));
  PETREL_ASSIGN_OR_RETURN(levels, phases.weight(levels));
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(levels, ScalarType::kChar));
  const Sizes sizes = phases.weight_sizes();
  ProductWeight made;
  for (int64_t c = 0; c < sizes[0]; ++c) {
    const auto scale = static_cast<size_t>(phases.channel_in_group(c));
    made.scales.push_back(stored.scales[stored.scales.size() == 1 ? 0 : scale]);
  }
  made.levels = add_unique_constant(b.graph(), absl::StrCat(constant.fqn, "@phases"),
                                    TensorType::contiguous(ScalarType::kChar, sizes),
                                    std::move(data), constant.kind, constant.sources());
  return made;
}

}  // namespace

absl::StatusOr<Value*> transposed_form(Builder& b, const Node& node, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(FormOperand x, operand_of(node.argument(arg::input), "input"));
  if (x.value->tensor().is_dynamic()) return cannot("its sizes vary");
  PETREL_ASSIGN_OR_RETURN(const ProductWeight stored, weight_of(node.argument(arg::weight), 1));
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> bias, bias_of(node.argument(arg::bias)));
  const TransposedPhases phases(node);
  PETREL_ASSIGN_OR_RETURN(const ProductWeight weight, weight_of_phases(b, stored, phases));
  if (const Ints pads = phases.pads(); !pads.empty()) {
    PETREL_ASSIGN_OR_RETURN(x.value,
                            b.call(aten::constant_pad_nd, {x.value, pads, x.levels.zero_point}));
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          product_arguments(b, x, weight, phases.for_phases(bias), target));
  for (const Ints& numbers : {phases.ones(), phases.padding(), phases.ones()}) {
    arguments.emplace_back(numbers);
  }
  arguments.emplace_back(phases.groups());
  arguments.emplace_back(x.levels.zero_point);
  PETREL_ASSIGN_OR_RETURN(
      Value * y, with_target(b, petrel_ops::int8_convolution, std::move(arguments), target));
  return phases.interleaved(b, y);
}

}  // namespace petrel::exir
