// SPDX-License-Identifier: Apache-2.0
//
// The constants that weights of a program become, each made once: methods share what they
// share in floats.
//
//   StoredWeights weights;
//   PETREL_ASSIGN_OR_RETURN(const StoredWeight w, weights.per_channel(constant, 0));
//   graph.add_constant(w.levels);    // "fc.weight@int8" : i8[8,64], and its scales
#ifndef PETREL_EXIR_QUANTIZE_STORED_WEIGHTS_H_
#define PETREL_EXIR_QUANTIZE_STORED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "exir/ir/constant.h"

namespace petrel::exir {

struct StoredWeight {
  ConstantPtr levels;  // i8
  ConstantPtr scales;  // f32
};

class StoredWeights {
 public:
  // 8 bits with a scale for each index along `axis`.
  absl::StatusOr<StoredWeight> per_channel(const ConstantPtr& weight, size_t axis);

  // A matrix [k, n] as [n, k], with a scale for each of its n rows.
  absl::StatusOr<StoredWeight> transposed(const ConstantPtr& weight);

  // 4 bits with scales [n, k / group] for a matrix [n, k], or [k, n] where `is_transposed`.
  // Precondition: `group` divides k.
  absl::StatusOr<StoredWeight> in_groups(const ConstantPtr& weight, bool is_transposed,
                                         int64_t group);

 private:
  template <typename MakeFn>
  absl::StatusOr<StoredWeight> find_or_make(const ConstantPtr& weight, const std::string& suffix,
                                            const MakeFn& make);

  // By weight and what was added to its name.
  std::map<std::pair<const Constant*, std::string>, StoredWeight> stored_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_STORED_WEIGHTS_H_
