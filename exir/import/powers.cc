// SPDX-License-Identifier: Apache-2.0
//
// Powers of numbers that are computed at run time, for which programs have no operator:
//
//   n ** 3     ->  (n * n) * n
//   n ** -1    ->  1 / n
//   n ** 0.5   ->  %t = aten.full.default([], n, f64)
//                  %p = aten.pow.Tensor_Scalar(%t, 0.5)
//                  aten._local_scalar_dense.default(%p)
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "exir/import/graph_reader.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// A node for each.
constexpr int64_t kMostFactors = 16;

}  // namespace

absl::StatusOr<Value*> GraphReader::product_of(const Argument& base, int64_t factors,
                                               const std::string& name, const Source& source) {
  Argument all = base;
  for (int64_t i = 1; i < factors; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * made,
                            appended(executorch_prim::mul_Scalar, {all, base}, name, source));
    all = Argument(made);
  }
  return all.value();
}

absl::Status GraphReader::read_power(const Json& node, const Source& source,
                                     const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(Json inputs, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          arguments_.read(op(executorch_prim::mul_Scalar), inputs));
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(node));
  const Argument& base = arguments[0];
  const Argument& exponent = arguments[1];
  if (names.size() != 1 || !base.is_value() || !exponent.is_number()) {
    return absl::UnimplementedError("is of a fixed base, or to a power that varies");
  }
  const int64_t factors = exponent.is_int() ? exponent.as_int() : 0;
  Value* power = nullptr;
  if (factors != 0 && factors >= -kMostFactors && factors <= kMostFactors) {
    PETREL_ASSIGN_OR_RETURN(power, product_of(base, std::abs(factors), name, source));
    if (factors < 0) {
      PETREL_ASSIGN_OR_RETURN(power, appended(executorch_prim::truediv_Scalar,
                                              {Argument(1.0), Argument(power)}, name, source));
    }
  } else {
    const Argument dtype(ScalarType::kDouble);
    PETREL_ASSIGN_OR_RETURN(Value * tensor, appended(aten::full,
                                                     {Argument(Argument::Ints{}), base, dtype,
                                                      Argument(), Argument(), Argument()},
                                                     absl::StrCat(name, "_base"), source));
    PETREL_ASSIGN_OR_RETURN(tensor, appended(aten::pow_Tensor_Scalar, {Argument(tensor), exponent},
                                             absl::StrCat(name, "_tensor"), source));
    PETREL_ASSIGN_OR_RETURN(power,
                            appended(aten::_local_scalar_dense, {Argument(tensor)}, name, source));
  }
  PETREL_RETURN_IF_ERROR(take_recorded_int(names[0], power));
  PETREL_RETURN_IF_ERROR(check_recorded(names[0], *power));
  return define(names[0], {Argument(power), {}});
}

}  // namespace petrel::exir
