// SPDX-License-Identifier: Apache-2.0
//
// Elements that are moved as they are: only their size counts.
//
//   return with_size(out.element_size(), [&](auto zero) {
//     using T = decltype(zero);   // an unsigned integer of as many bytes
//     ...
//   });
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_BY_SIZE_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_BY_SIZE_H_

#include <cstddef>
#include <cstdint>

namespace petrel::runtime::optimized {

// False, and fn not called, for sizes that no integer has.
template <typename Fn>
bool with_size(size_t size, const Fn& fn) {
  switch (size) {
    case 1:
      fn(uint8_t{0});
      return true;
    case 2:
      fn(uint16_t{0});
      return true;
    case 4:
      fn(uint32_t{0});
      return true;
    case 8:
      fn(uint64_t{0});
      return true;
    default:
      return false;
  }
}

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_BY_SIZE_H_
