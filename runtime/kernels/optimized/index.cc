// SPDX-License-Identifier: Apache-2.0
//
// tensor[indices], where indices stand in dims next to each other: reading
// (index, index_select) and writing (index_put) of contiguous tensors.
//
//   tensor [outer..., d0, d1, inner...], indices i, j [block...]
//     -> result [outer..., block..., inner...]
//
// Offsets of a piece of the block are found once and serve every outer place;
// what lies inside moves as one run.
#include <cstring>

#include "runtime/kernels/optimized/by_size.h"
#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/portable/loop_charge.h"

namespace petrel::runtime::optimized {
namespace {

using portable::SizeArray;
using portable::SizesType;

class Block final {
 public:
  static constexpr size_t kPiece = 512;

  // Negative indices count from the end of a dim, or are refused.
  explicit Block(bool from_the_end) : from_the_end_(from_the_end) {}

  // False when the indices are not for these kernels.
  bool prepare(const Tensor& tensor, Span<const std::optional<Tensor>> indices) {
    size_t first = 0;
    if (!is_contiguous(tensor) || indices.size() > tensor.sizes().size()) return false;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (!indices[d]) continue;
      const Tensor& index = *indices[d];
      if (count_ == 0) first = d;
      if (count_ == kMost || d != first + count_ || index.scalar_type() != ScalarType::Long ||
          !portable::broadcast_sizes(&block_, index.sizes())) {
        return false;
      }
      Index& own = indices_[count_++];
      own.data = index.const_data_ptr<int64_t>();
      own.size = tensor.sizes()[d];
      own.stride = tensor.strides()[d];
    }
    if (count_ == 0) return false;
    const size_t rank = tensor.sizes().size(), end = first + count_;
    if (rank - count_ + block_.rank > kTensorDimensionLimit) return false;
    for (size_t k = 0; k < count_; ++k) {
      const Tensor& index = *indices[first + k];
      const size_t shift = block_.rank - index.sizes().size();
      for (size_t d = 0; d < block_.rank; ++d) {
        const bool moves = d >= shift && index.sizes()[d - shift] != 1;
        indices_[k].strides[d] = moves ? index.strides()[d - shift] : 0;
      }
    }
    outer = portable::product(tensor.sizes(), 0, first);
    inner = portable::product(tensor.sizes(), end, rank);
    outer_stride = portable::product(tensor.sizes(), first, rank);
    length = portable::product(block_.span(), 0, block_.rank);
    for (size_t d = 0; d < first; ++d) sizes_[sizes_.rank++] = tensor.sizes()[d];
    for (size_t d = 0; d < block_.rank; ++d) sizes_[sizes_.rank++] = block_[d];
    for (size_t d = end; d < rank; ++d) sizes_[sizes_.rank++] = tensor.sizes()[d];
    return checked_numel(sizes_.span(), &numel);
  }

  // Of tensor[indices].
  const SizeArray& sizes() const { return sizes_; }

  // fn(offsets, first, n): places [first, first + n) of the block are at these
  // offsets of the tensor. An index outside its dim fails the context and ends
  // the walk.
  template <typename Fn>
  void for_each_piece(KernelRuntimeContext& context, const Fn& fn) const {
    const size_t row = block_.rank == 0 ? 1 : static_cast<size_t>(block_[block_.rank - 1]);
    if (length == 0) return;
    SizesType position[kTensorDimensionLimit] = {};
    int64_t offsets[kPiece];
    for (size_t start = 0; start < length; start += row) {
      for (size_t i = 0; i < row; i += kPiece) {
        const size_t n = row - i < kPiece ? row - i : kPiece;
        if (!find(context, position, i, n, offsets)) return;
        fn(static_cast<const int64_t*>(offsets), start + i, n);
      }
      for (size_t d = block_.rank < 2 ? 0 : block_.rank - 1; d-- > 0;) {
        if (++position[d] < block_[d]) break;
        position[d] = 0;
      }
    }
  }

  size_t outer = 1, inner = 1, length = 1;
  size_t numel = 1;         // of tensor[indices]
  size_t outer_stride = 1;  // elements of the tensor from one outer place to the next

 private:
  static constexpr size_t kMost = 4;
  struct Index {
    const int64_t* data = nullptr;
    int64_t size = 0, stride = 0;  // of the tensor's dim
    int64_t strides[kTensorDimensionLimit] = {};
  };

  // Offsets of n places of a row of the block, from place `first` on.
  __attribute__((noinline)) bool find(KernelRuntimeContext& context, const SizesType* position,
                                      size_t first, size_t n, int64_t* offsets) const {
    for (size_t i = 0; i < n; ++i) offsets[i] = 0;
    const size_t last = block_.rank == 0 ? 0 : block_.rank - 1;
    for (size_t k = 0; k < count_; ++k) {
      const Index& index = indices_[k];
      const int64_t step = block_.rank == 0 ? 0 : index.strides[last];
      const int64_t* from = index.data + static_cast<int64_t>(first) * step;
      for (size_t d = 0; d < last; ++d) from += position[d] * index.strides[d];
      for (size_t i = 0; i < n; ++i) {
        int64_t place = from[static_cast<int64_t>(i) * step];
        if (place < 0 || place >= index.size) {
          if (!from_the_end_) return portable::check_index(context, place, index.size);
          if (!portable::place_of(context, place, index.size, &place)) return false;
        }
        offsets[i] += place * index.stride;
      }
    }
    return true;
  }

  bool from_the_end_;
  Index indices_[kMost];
  size_t count_ = 0;
  SizeArray block_, sizes_;
};

bool read(KernelRuntimeContext& context, const Tensor& self,
          Span<const std::optional<Tensor>> indices, bool from_the_end, const Tensor& out) {
  Block block(from_the_end);
  if (self.scalar_type() != out.scalar_type() || !block.prepare(self, indices) ||
      resize_tensor(out, block.sizes().span()) != Error::Ok || !is_contiguous(out)) {
    return false;
  }
  // Indices that broadcast have more places than elements: of no elements, any number.
  if (out.numel() == 0) return false;
  return with_size(out.element_size(), [&](auto zero) {
    using T = decltype(zero);
    const T* data = static_cast<const T*>(self.const_data_ptr());
    T* result = static_cast<T*>(out.mutable_data_ptr());
    const size_t inner = block.inner;
    block.for_each_piece(context, [&](const int64_t* offsets, size_t first, size_t n) {
      for (size_t o = 0; o < block.outer; ++o) {
        const T* from = data + o * block.outer_stride;
        T* to = result + (o * block.length + first) * inner;
        if (inner == 1) {
          for (size_t i = 0; i < n; ++i) to[i] = from[offsets[i]];
          continue;
        }
        for (size_t i = 0; i < n; ++i) {
          std::memmove(to + i * inner, from + offsets[i], inner * sizeof(T));
        }
      }
    });
  });
}

// place(element of out, element of values) for each element that is written.
template <typename T, typename Place>
void write(KernelRuntimeContext& context, const Block& block, const Tensor& values, bool spread,
           const Tensor& out, const Place& place) {
  const T* data = static_cast<const T*>(values.const_data_ptr());
  T* result = static_cast<T*>(out.mutable_data_ptr());
  const size_t inner = block.inner;
  block.for_each_piece(context, [&](const int64_t* offsets, size_t first, size_t n) {
    for (size_t o = 0; o < block.outer; ++o) {
      T* to = result + o * block.outer_stride;
      const T* from = data + (spread ? 0 : (o * block.length + first) * inner);
      for (size_t i = 0; i < n; ++i) {
        T* run = to + offsets[i];
        if (spread) {
          for (size_t j = 0; j < inner; ++j) place(&run[j], *from);
        } else {
          for (size_t j = 0; j < inner; ++j) place(&run[j], from[i * inner + j]);
        }
      }
    }
  });
}

// The values have the sizes of self[indices], leading ones aside, or are one.
bool put(KernelRuntimeContext& context, const Tensor& self,
         Span<const std::optional<Tensor>> indices, const Tensor& values, bool accumulate,
         const Tensor& out) {
  Block block(/*from_the_end=*/true);
  const ScalarType type = self.scalar_type();
  if (type != out.scalar_type() || type != values.scalar_type() || type == ScalarType::Bool ||
      !portable::is_arithmetic(type) || !is_contiguous(values) || !block.prepare(self, indices) ||
      !portable::broadcasts_to(values.sizes(), block.sizes().span()) ||
      resize_tensor(out, self.sizes()) != Error::Ok || !is_contiguous(out)) {
    return false;
  }
  const bool spread = values.numel() == 1;
  // Where nothing is written no index is read, wherever it points.
  if (block.numel == 0 || (!spread && values.numel() != block.numel)) return false;
  if (accumulate && type != ScalarType::Float && type != ScalarType::Double &&
      type != ScalarType::Long && type != ScalarType::Int) {
    return false;
  }
  if (!portable::charge_loop(context, block.sizes())) return true;
  if (out.const_data_ptr() != self.const_data_ptr() && self.nbytes() != 0) {
    std::memmove(out.mutable_data_ptr(), self.const_data_ptr(), self.nbytes());
  }
  const auto add = [](auto* to, auto value) { *to += value; };
  if (!accumulate) {
    return with_size(out.element_size(), [&](auto zero) {
      write<decltype(zero)>(context, block, values, spread, out,
                            [](auto* to, auto value) { *to = value; });
    });
  }
  switch (type) {
    case ScalarType::Float:
      write<float>(context, block, values, spread, out, add);
      break;
    case ScalarType::Double:
      write<double>(context, block, values, spread, out, add);
      break;
    // Without a sign, so that overflow wraps.
    case ScalarType::Long:
      write<uint64_t>(context, block, values, spread, out, add);
      break;
    default:
      write<uint32_t>(context, block, values, spread, out, add);
      break;
  }
  return true;
}

}  // namespace

// index.Tensor_out(Tensor self, Tensor?[] indices, *, out)
void index_tensor_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const std::optional<Tensor>> indices = args.optional_tensor_list(1);
  const Tensor out = args.out(2);
  if (!args.ok() || read(context, self, indices, true, out)) return;
  portable::index_tensor_out(context, raw);
}

// index_select.out(Tensor self, int dim, Tensor index, *, out)
void index_select_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor index = args.tensor(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return;
  const int64_t rank = self.dim(), d = dim < 0 ? dim + rank : dim;
  if (index.dim() == 1 && d >= 0 && d < rank) {
    std::optional<Tensor> indices[kTensorDimensionLimit];
    indices[d] = index;
    if (read(context, self, {indices, static_cast<size_t>(d) + 1}, false, out)) return;
  }
  portable::index_select_out(context, raw);
}

// index_put.out(Tensor self, Tensor?[] indices, Tensor values, bool accumulate,
//   *, out)
void index_put_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const Span<const std::optional<Tensor>> indices = args.optional_tensor_list(1);
  const Tensor values = args.tensor(2);
  const bool accumulate = args.boolean(3);
  const Tensor out = args.out(4);
  if (!args.ok() || put(context, self, indices, values, accumulate, out)) return;
  portable::index_put_out(context, raw);
}

// index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate)
void index_put_in_place(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.out(0);
  const Span<const std::optional<Tensor>> indices = args.optional_tensor_list(1);
  const Tensor values = args.tensor(2);
  const bool accumulate = args.boolean(3);
  if (!args.ok() || put(context, self, indices, values, accumulate, self)) return;
  portable::index_put_in_place(context, raw);
}

}  // namespace petrel::runtime::optimized
