// SPDX-License-Identifier: Apache-2.0
//
// The places that a mask names, one after another, row-major. Nothing is kept of
// them: whoever goes on to the next one looks at the elements up to it.
//
//   mask [[0, 1],      places (0, 1), (1, 0)
//         [1, 0]]
//
//   MaskPlaces places;
//   places.start(mask);
//   places.count()                         2
//   if (places.go_to(1)) places[0], places[1]     1, 0
//
// The mask must outlive it.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_MASK_PLACES_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_MASK_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/core/tensor.h"
#include "runtime/kernels/portable/strided_loop.h"

namespace petrel::runtime::portable {

// Bool, or uint8 as older programs have it.
inline bool is_mask(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Bool || tensor.scalar_type() == ScalarType::Byte;
}

class MaskPlaces final {
 public:
  // Precondition: is_mask(mask), and its rank is at least 1.
  void start(const Tensor& mask);

  size_t rank() const { return mask_->sizes().size(); }
  size_t count() const { return count_; }

  // False where there is none: the mask has changed since it was counted.
  bool go_to(size_t n);
  SizesType operator[](size_t dim) const { return at_[dim]; }

 private:
  // Moves to the next element that is set, the one it stands on excluded.
  bool next();
  // Moves by one element; false behind the last.
  bool step();

  std::optional<Tensor> mask_;
  size_t count_ = 0;
  size_t found_ = 0;  // places that were gone to, the last one included
  int64_t offset_ = 0;
  SizesType at_[kTensorDimensionLimit] = {};
};

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_MASK_PLACES_H_
