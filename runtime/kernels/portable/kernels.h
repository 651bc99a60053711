// SPDX-License-Identifier: Apache-2.0
//
// The portable kernels: clear and exact reference implementations of the
// operators that programs call, one row each in kernel_list.inc. Results do not
// depend on the C library: transcendental functions are our own
// (reference_math.h), and the library is compiled without contraction of
// multiply and add.
//
//   petrel_registry(name = "registry",
//                   kernels = ["//runtime/kernels/portable:kernels"])
//
// Adding a kernel: write it in the file of its family (or its own), add one row
// to kernel_list.inc and one case to the family's test.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_KERNELS_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_KERNELS_H_

#include "runtime/kernel/kernel.h"

namespace petrel::runtime {

Span<const Kernel> portable_kernels();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_KERNELS_H_
