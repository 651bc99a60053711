// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/cache_rows.h"

#include <cstring>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/functions.h"
#include "runtime/kernels/portable/index_walk.h"

namespace petrel::runtime::portable {
namespace {

// Bytes of one row, of one batch's rows in the value and in the cache.
struct RowBytes {
  RowBytes(const Tensor& value, const Tensor& cache)
      : row(static_cast<size_t>(value.size(2)) * static_cast<size_t>(value.size(3)) *
            value.element_size()),
        value_batch(row * static_cast<size_t>(value.size(1))),
        cache_batch(row * static_cast<size_t>(cache.size(1))) {}

  size_t row, value_batch, cache_batch;
};

}  // namespace

bool check_cache_rows(KernelRuntimeContext& context, const Tensor& value, const Tensor& cache) {
  return check_rank(context, value, 4) && check_rank(context, cache, 4) &&
         check_contiguous(context, value) && check_contiguous(context, cache) &&
         check_same_type(context, value, cache) &&
         check(context,
               value.size(0) == cache.size(0) && value.size(2) == cache.size(2) &&
                   value.size(3) == cache.size(3),
               "the rows must have the batches, heads and elements of the cache");
}

bool check_cache_range(KernelRuntimeContext& context, int64_t start, int64_t count, int64_t size) {
  if (start >= 0 && start <= size && count <= size - start) return true;
  PETREL_LOG(Error, "%.64s: rows [%lld, %lld + %lld) are not in a cache of %lld",
             context.kernel_name(), static_cast<long long>(start), static_cast<long long>(start),
             static_cast<long long>(count), static_cast<long long>(size));
  context.fail(Error::InvalidArgument);
  return false;
}

bool write_cache_rows(KernelRuntimeContext& context, const Tensor& value, const Tensor& cache,
                      int64_t start) {
  if (!check_cache_rows(context, value, cache) ||
      !check_cache_range(context, start, value.size(1), cache.size(1))) {
    return false;
  }
  const RowBytes bytes(value, cache);
  if (bytes.value_batch == 0) return true;
  if (!charge_each(context, value, 1)) return false;
  const auto* from = static_cast<const uint8_t*>(value.const_data_ptr());
  auto* to =
      static_cast<uint8_t*>(cache.mutable_data_ptr()) + static_cast<size_t>(start) * bytes.row;
  for (size_t b = 0; b < static_cast<size_t>(value.size(0)); ++b) {
    std::memmove(to + b * bytes.cache_batch, from + b * bytes.value_batch, bytes.value_batch);
  }
  return true;
}

// (Tensor value, Tensor(a!) cache, SymInt start_pos, *, Tensor(b!) out): out has one element
// that says nothing, and stays as it is.
void update_cache_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor value = args.tensor(0);
  const Tensor cache = args.out(1);
  const int64_t start = args.integer(2);
  if (args.ok()) write_cache_rows(context, value, cache, start);
}

// (Tensor value, Tensor(a!) cache, SymInt start_pos, Tensor indices, *, Tensor(b!) out): row
// indices[b, i] of the cache's batch b becomes row i of the value's. An index that is no row
// ends the call, with the rows before it written.
void update_cache_with_indices_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor value = args.tensor(0);
  const Tensor cache = args.out(1);
  const Tensor indices = args.tensor(3);
  if (!args.ok() || !check_cache_rows(context, value, cache) || !check_rank(context, indices, 2) ||
      !check_contiguous(context, indices) || !check_index_type(context, indices) ||
      !check(context, indices.size(0) == value.size(0) && indices.size(1) == value.size(1),
             "indices must have one for each row") ||
      !charge_each(context, value, 1)) {
    return;
  }
  const RowBytes bytes(value, cache);
  const auto* from = static_cast<const uint8_t*>(value.const_data_ptr());
  auto* to = static_cast<uint8_t*>(cache.mutable_data_ptr());
  const auto load = loader<int64_t>(indices.scalar_type());
  const auto rows = static_cast<size_t>(value.size(1));
  for (size_t i = 0; i < indices.numel(); ++i) {
    const int64_t index = load(indices.const_data_ptr(), i);
    if (!check_index(context, index, cache.size(1))) return;
    if (bytes.row == 0) continue;
    std::memmove(to + i / rows * bytes.cache_batch + static_cast<size_t>(index) * bytes.row,
                 from + i * bytes.row, bytes.row);
  }
}

}  // namespace petrel::runtime::portable
