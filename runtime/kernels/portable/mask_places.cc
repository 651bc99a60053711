// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/mask_places.h"

namespace petrel::runtime::portable {

void MaskPlaces::start(const Tensor& mask) {
  mask_ = mask;
  const auto* set = static_cast<const uint8_t*>(mask.const_data_ptr());
  count_ = found_ = 0;
  StridedLoop<1> loop(mask.sizes());
  loop.operand(0, mask);
  loop.run([&](const int64_t* at) { count_ += set[at[0]] != 0; });
}

bool MaskPlaces::go_to(size_t n) {
  if (n + 1 < found_) found_ = 0;
  while (found_ <= n) {
    if (!next()) return false;
  }
  return true;
}

bool MaskPlaces::next() {
  const auto* set = static_cast<const uint8_t*>(mask_->const_data_ptr());
  bool is_inside = true;
  if (found_ == 0) {
    offset_ = 0;
    for (size_t d = 0; d < rank(); ++d) at_[d] = 0;
    is_inside = mask_->numel() != 0;
  } else {
    is_inside = step();
  }
  while (is_inside && set[offset_] == 0) is_inside = step();
  found_ += is_inside;
  return is_inside;
}

bool MaskPlaces::step() {
  for (size_t d = rank(); d-- > 0;) {
    const int64_t stride = mask_->strides()[d];
    if (++at_[d] < mask_->sizes()[d]) {
      offset_ += stride;
      return true;
    }
    offset_ -= stride * (at_[d] - 1);
    at_[d] = 0;
  }
  return false;
}

}  // namespace petrel::runtime::portable
