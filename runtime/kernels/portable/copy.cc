// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/copy.h"

#include <cstdlib>

namespace petrel::runtime::portable {
namespace {

struct Dim {
  int64_t size, to, from;  // strides in bytes
};

// The dims of a copy, ordered by the memory of the target and joined where
// both sides allow it.
struct Plan {
  Dim dims[kTensorDimensionLimit];
  size_t rank = 0;
  char* to;
  const char* from;
};

// A block of a transposition: its lines of both sides fit the nearest cache.
constexpr int64_t kBlock = 32;

void order_and_join(Plan* plan) {
  for (size_t d = 1; d < plan->rank; ++d) {
    const Dim dim = plan->dims[d];
    size_t place = d;
    for (; place > 0 && std::llabs(plan->dims[place - 1].to) < std::llabs(dim.to); --place) {
      plan->dims[place] = plan->dims[place - 1];
    }
    plan->dims[place] = dim;
  }
  size_t last = 0;
  for (size_t d = 1; d < plan->rank; ++d) {
    const Dim inner = plan->dims[d];
    Dim& outer = plan->dims[last];
    if (outer.to == inner.to * inner.size && outer.from == inner.from * inner.size) {
      outer = {outer.size * inner.size, inner.to, inner.from};
    } else {
      plan->dims[++last] = inner;
    }
  }
  if (plan->rank > 0) plan->rank = last + 1;
}

// run(to, from) for every index of the first `rank` dims.
template <typename Run>
void for_each(const Plan& plan, size_t rank, Run run) {
  int64_t index[kTensorDimensionLimit] = {};
  char* to = plan.to;
  const char* from = plan.from;
  while (true) {
    run(to, from);
    size_t d = rank;
    while (true) {
      if (d == 0) return;
      const Dim& dim = plan.dims[--d];
      to += dim.to;
      from += dim.from;
      if (++index[d] < dim.size) break;
      to -= dim.to * dim.size;
      from -= dim.from * dim.size;
      index[d] = 0;
    }
  }
}

// Elements of kSize bytes; memcpy of a constant size is one move, whatever the
// alignment.
template <size_t kSize>
void copy_line(char* to, const char* from, const Dim& dim) {
  for (int64_t i = 0; i < dim.size; ++i) {
    char element[kSize];
    std::memcpy(element, from + i * dim.from, kSize);
    std::memcpy(to + i * dim.to, element, kSize);
  }
}

// The source runs along `across`, the target along `along`: block by block, so
// that the lines of both are used whole while they are near.
template <size_t kSize>
void transpose(char* to, const char* from, const Dim& across, const Dim& along) {
  for (int64_t i = 0; i < across.size; i += kBlock) {
    const int64_t i_end = i + kBlock < across.size ? i + kBlock : across.size;
    for (int64_t j = 0; j < along.size; j += kBlock) {
      const Dim line = {along.size - j < kBlock ? along.size - j : kBlock, along.to, along.from};
      for (int64_t k = i; k < i_end; ++k) {
        copy_line<kSize>(to + k * across.to + j * along.to, from + k * across.from + j * along.from,
                         line);
      }
    }
  }
}

template <size_t kSize>
void copy_elements(Plan plan) {
  constexpr int64_t kStep = static_cast<int64_t>(kSize);
  const Dim last = plan.dims[plan.rank - 1];
  if (last.to == kStep && last.from != kStep) {
    for (size_t d = 0; d + 1 < plan.rank; ++d) {
      if (plan.dims[d].from != kStep) continue;
      // Moved next to the last dim; the order of the others is as good as any.
      const Dim across = plan.dims[d];
      for (size_t i = d; i + 2 < plan.rank; ++i) plan.dims[i] = plan.dims[i + 1];
      return for_each(plan, plan.rank - 2, [&](char* to, const char* from) {
        transpose<kSize>(to, from, across, last);
      });
    }
  }
  for_each(plan, plan.rank - 1,
           [&](char* to, const char* from) { copy_line<kSize>(to, from, last); });
}

}  // namespace

void copy_view(const Tensor& from_tensor, const View& from, const Tensor& to_tensor,
               const View& to) {
  // Steps of no elements lead nowhere, and may be too large to be counted in bytes.
  for (size_t d = 0; d < to.sizes.rank; ++d) {
    if (to.sizes[d] == 0) return;
  }
  const int64_t size = static_cast<int64_t>(to_tensor.element_size());
  Plan plan;
  plan.to = static_cast<char*>(to_tensor.mutable_data_ptr()) + to.offset * size;
  plan.from = static_cast<const char*>(from_tensor.const_data_ptr()) + from.offset * size;
  const size_t shift = to.sizes.rank - from.sizes.rank;
  for (size_t d = 0; d < to.sizes.rank; ++d) {
    if (to.sizes[d] == 1) continue;
    const bool present = d >= shift && from.sizes[d - shift] != 1;
    plan.dims[plan.rank++] = {to.sizes[d], to.strides[d] * size,
                              present ? from.strides[d - shift] * size : 0};
  }
  order_and_join(&plan);
  const bool whole = plan.rank == 0;
  if (whole || (plan.dims[plan.rank - 1].to == size && plan.dims[plan.rank - 1].from == size)) {
    const size_t bytes = static_cast<size_t>(size * (whole ? 1 : plan.dims[plan.rank - 1].size));
    // memmove: a program may have planned source and target onto each other.
    return for_each(plan, whole ? 0 : plan.rank - 1,
                    [&](char* to, const char* from) { std::memmove(to, from, bytes); });
  }
  switch (size) {
    case 1:
      return copy_elements<1>(plan);
    case 2:
      return copy_elements<2>(plan);
    case 4:
      return copy_elements<4>(plan);
    case 8:
      return copy_elements<8>(plan);
    default:
      for_each(plan, plan.rank, [&](char* to, const char* from) {
        std::memmove(to, from, static_cast<size_t>(size));
      });
  }
}

bool copy_all(KernelRuntimeContext& context, const Tensor& self, const View& from,
              const Tensor& out) {
  if (!check_same_type(context, self, out) || !resize_one_out(context, out, from.sizes.span())) {
    return false;
  }
  if (out.numel() != 0) copy_view(self, from, out, View(out));
  return true;
}

}  // namespace petrel::runtime::portable
