// SPDX-License-Identifier: Apache-2.0
//
// The optimized kernels: vector code for the operators that take time, chosen
// by instruction set when it runs, on the threads of the process. They stand
// before the portable ones, which take the rest:
//
//   petrel_registry(
//       name = "registry",
//       kernels = [
//           "//runtime/kernels/optimized:kernels",
//           "//runtime/kernels/portable:kernels",
//       ],
//   )
//
// Results are those of the portable kernels up to the rounding of float
// arithmetic: sums run in float and in another order. How a kernel is written:
// fast_path.h.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_KERNELS_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_KERNELS_H_

#include "runtime/kernel/kernel.h"

namespace petrel::runtime {

Span<const Kernel> optimized_kernels();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_KERNELS_H_
