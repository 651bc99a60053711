// SPDX-License-Identifier: Apache-2.0
//
// Rows of a cache of keys or values, [batches, rows, heads, elements], that a decoder's
// call writes:
//
//   if (!write_cache_rows(context, value, cache, start)) return;   // value is cache[:, start:...]
//
// Both are contiguous and of one element type, any. Nothing is written unless all fits.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_CACHE_ROWS_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_CACHE_ROWS_H_

#include "runtime/kernel/kernel_args.h"

namespace petrel::runtime::portable {

// Whether `value` has batches, heads and elements of `cache`; fails the context if not.
bool check_cache_rows(KernelRuntimeContext& context, const Tensor& value, const Tensor& cache);
// Whether rows [start, start + count) are in a cache of `size` rows; fails the context if not.
bool check_cache_range(KernelRuntimeContext& context, int64_t start, int64_t count, int64_t size);

bool write_cache_rows(KernelRuntimeContext& context, const Tensor& value, const Tensor& cache,
                      int64_t start);

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_CACHE_ROWS_H_
