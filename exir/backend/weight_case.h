// SPDX-License-Identifier: Apache-2.0
//
// What tests of weights and their files begin with.
//
//   weight("enc.w", {1, 2})   a parameter of two bytes
//   two_files()               enc.* to enc.ptd, *lora* to lora.ptd
#ifndef PETREL_EXIR_BACKEND_WEIGHT_CASE_H_
#define PETREL_EXIR_BACKEND_WEIGHT_CASE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exir/backend/weight_routes.h"

namespace petrel::exir {

inline Constant weight(const std::string& fqn, std::vector<uint8_t> bytes,
                       Constant::Kind kind = Constant::Kind::kParameter) {
  Constant constant;
  constant.fqn = fqn;
  constant.kind = kind;
  constant.type = TensorType::contiguous(ScalarType::kByte, {static_cast<int64_t>(bytes.size())});
  constant.data = Blob::owned(std::move(bytes));
  return constant;
}

inline WeightRoutes two_files() {
  WeightRoutes routes;
  routes.rules = {{"enc.*", "enc.ptd"}, {"*lora*", "lora.ptd"}};
  return routes;
}

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_WEIGHT_CASE_H_
