// SPDX-License-Identifier: Apache-2.0
//
// The constants that weights of a program become, each made once: methods share what they
// share in floats.
//
//   StoredWeights weights(record.roundings);
//   PETREL_ASSIGN_OR_RETURN(const StoredWeight w, weights.per_channel(constant, 0));
//   graph.add_constant(w.levels);    // "fc.weight@int8" : i8[8,64], and its scales
#ifndef PETREL_EXIR_QUANTIZE_STORED_WEIGHTS_H_
#define PETREL_EXIR_QUANTIZE_STORED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/constant.h"
#include "exir/quantize/group_scheme.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

struct StoredWeight {
  ConstantPtr levels;  // i8
  ConstantPtr scales;  // f32
};

// A weight as rows: [n, k] from itself, or from [k, n].
struct WeightRows {
  std::vector<float> values;
  size_t n = 0;
  size_t k = 0;
};
// InvalidArgument naming the weight and row that are not finite.
absl::StatusOr<WeightRows> rows_of_weight(const Constant& weight, bool is_transposed);

// "fc.weight@int4.32".
std::string name_in_groups(const Constant& weight, bool is_transposed, int64_t group);

class StoredWeights {
 public:
  using Roundings = std::map<std::string, ChosenRounding>;

  // `roundings` must outlive this.
  explicit StoredWeights(const Roundings& roundings) : roundings_(roundings) {}

  // 8 bits with the scale and zero point that are given. InvalidArgument for elements that
  // are not finite.
  absl::StatusOr<ConstantPtr> per_tensor(const ConstantPtr& constant, const Affine& numbers);

  // f16; numbers beyond its range become its largest. InvalidArgument for NaN.
  absl::StatusOr<ConstantPtr> in_half(const ConstantPtr& constant);

  // 8 bits with a scale for each index along `axis`.
  absl::StatusOr<StoredWeight> per_channel(const ConstantPtr& weight, size_t axis);

  // A matrix [k, n] as [n, k], with a scale for each of its n rows.
  absl::StatusOr<StoredWeight> transposed(const ConstantPtr& weight);

  // 4 bits with scales [n, k / group] for a matrix [n, k], or [k, n] where `is_transposed`: as
  // the roundings have it, else rounded to nearest. InvalidArgument for a rounding of other
  // numbers. Precondition: `group` divides k.
  absl::StatusOr<StoredWeight> in_groups(const ConstantPtr& weight, bool is_transposed,
                                         int64_t group);

  // InvalidArgument naming a rounding that no weight took.
  absl::Status check_all_taken() const;

 private:
  template <typename MakeFn>
  absl::StatusOr<StoredWeight> find_or_make(const ConstantPtr& weight, const std::string& suffix,
                                            const MakeFn& make);

  absl::StatusOr<RoundedWeight> rounded(const Constant& weight, bool is_transposed, int64_t group,
                                        const std::string& name);

  const Roundings& roundings_;
  std::set<std::string> taken_;
  // By weight and what was added to its name. A weight is held: another one that took its
  // place in memory would be taken for it.
  std::map<std::pair<ConstantPtr, std::string>, StoredWeight> stored_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_STORED_WEIGHTS_H_
