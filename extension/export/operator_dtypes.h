// SPDX-License-Identifier: Apache-2.0
//
// The dtypes of tensors that the rule of an operator accepts, all of one dtype, as pages say it.
//
//   dtypes_text(accepted_dtypes(exir::op("aten.bitwise_not.default")))   "u8 i8 i16 i32 i64 bool"
//
// Empty where no plain arguments please the rule.
#ifndef PETREL_EXTENSION_EXPORT_OPERATOR_DTYPES_H_
#define PETREL_EXTENSION_EXPORT_OPERATOR_DTYPES_H_

#include <set>
#include <string>

#include "exir/ir/scalar_type.h"
#include "exir/ops/table.h"

namespace petrel::extension {

std::set<exir::ScalarType> accepted_dtypes(const exir::OpInfo& op);

// "all", "floats", or their names.
std::string dtypes_text(const std::set<exir::ScalarType>& dtypes);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_OPERATOR_DTYPES_H_
