// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/weight_blob.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::backends::xnnpack::aot {
namespace {

// True when walking the view visits the data from front to back.
bool is_dense(const WeightView& view) {
  int64_t expected = 1;
  for (size_t i = view.sizes.size(); i-- > 0;) {
    if (view.sizes[i] == 1) continue;
    if (view.strides[i] != expected) return false;
    expected *= view.sizes[i];
  }
  return true;
}

// Copies the elements of the view below `axis` and advances `out`.
template <size_t kItemSize>
void gather(const uint8_t* in, const WeightView& view, size_t axis, uint8_t** out) {
  if (axis == view.sizes.size()) {
    std::memcpy(*out, in, kItemSize);
    *out += kItemSize;
    return;
  }
  const size_t step = static_cast<size_t>(view.strides[axis]) * kItemSize;
  const bool is_last = axis + 1 == view.sizes.size();
  if (is_last && step == kItemSize) {
    const size_t bytes = static_cast<size_t>(view.sizes[axis]) * kItemSize;
    std::memcpy(*out, in, bytes);
    *out += bytes;
    return;
  }
  if (is_last) {
    uint8_t* to = *out;
    for (int64_t i = 0; i < view.sizes[axis]; ++i, in += step, to += kItemSize) {
      std::memcpy(to, in, kItemSize);
    }
    *out = to;
    return;
  }
  for (int64_t i = 0; i < view.sizes[axis]; ++i, in += step) {
    gather<kItemSize>(in, view, axis + 1, out);
  }
}

}  // namespace

WeightView WeightView::of(const exir::Constant& constant) {
  WeightView view;
  view.sizes = constant.type.sizes;
  view.strides.assign(view.sizes.size(), 1);
  int64_t stride = 1;
  for (size_t i = view.sizes.size(); i-- > 0;) {
    const uint8_t axis = constant.type.dim_order[i];
    view.strides[axis] = stride;
    stride *= view.sizes[axis];
  }
  return view;
}

WeightView WeightView::permuted(const std::vector<size_t>& axes) const {
  WeightView view;
  for (const size_t axis : axes) {
    view.sizes.push_back(sizes[axis]);
    view.strides.push_back(strides[axis]);
  }
  return view;
}

std::string WeightView::form(const exir::TensorType& source) const {
  if (is_dense(*this)) return "";
  exir::Constant whole;
  whole.type = source;
  const WeightView from = of(whole);
  std::string axes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    size_t axis = 0;
    while (axis < from.sizes.size() &&
           (from.sizes[axis] != sizes[i] || from.strides[axis] != strides[i])) {
      ++axis;
    }
    if (axis == from.sizes.size()) {
      return absl::StrCat(absl::StrJoin(sizes, "x"), ":", absl::StrJoin(strides, ","));
    }
    absl::StrAppend(&axes, axis);
  }
  return axes;
}

exir::TensorType WeightView::type(const exir::TensorType& source) const {
  if (is_dense(*this)) return source;
  exir::Sizes kept;
  for (const int64_t size : sizes) {
    if (size != 1) kept.push_back(size);
  }
  return exir::TensorType::contiguous(source.dtype, kept);
}

WeightView WeightView::padded_to(size_t rank) const {
  WeightView view = *this;
  while (view.sizes.size() < rank) view = view.with_axis(0);
  return view;
}

WeightView WeightView::with_axis(size_t axis) const {
  WeightView view = *this;
  view.sizes.insert(view.sizes.begin() + static_cast<ptrdiff_t>(axis), 1);
  view.strides.insert(view.strides.begin() + static_cast<ptrdiff_t>(axis), 0);
  return view;
}

WeightView WeightView::with_axis_split(size_t axis, int64_t outer) const {
  WeightView view = with_axis(axis);
  const int64_t inner = sizes[axis] / outer;
  view.sizes[axis] = outer;
  view.strides[axis] = strides[axis] * inner;
  view.sizes[axis + 1] = inner;
  return view;
}

exir::Blob WeightBlobs::blob(const exir::ConstantPtr& constant, const WeightView& view) {
  if (is_dense(view)) return constant->data;
  const auto [place, is_new] = blobs_.try_emplace(Key(constant.get(), view.sizes, view.strides));
  if (is_new) {
    constants_.push_back(constant);
    const exir::Blob source = constant->data;
    const size_t item = exir::item_size(constant->type.dtype);
    const auto copy = item == 1 ? &gather<1> : item == 2 ? &gather<2> : &gather<4>;
    const auto produce = [source, view, copy](absl::Span<uint8_t> out) {
      const exir::Blob::Bytes bytes = source.bytes();
      uint8_t* to = out.data();
      copy(bytes.data(), view, 0, &to);
    };
    place->second = exir::Blob::produced(source.size(), produce);
  }
  return place->second;
}

absl::StatusOr<exir::Blob> WeightBlobs::in_4_bits(const exir::ConstantPtr& constant,
                                                  const WeightView& view) {
  const exir::Blob plain = blob(constant, view);
  const auto columns = static_cast<size_t>(view.sizes[1]);
  const exir::Blob::Bytes checked = plain.bytes();
  for (const uint8_t byte : checked.span()) {
    const int level = static_cast<int8_t>(byte);
    if (level >= -8 && level <= 7) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("weight '", constant->fqn, "' has the level ", level, ", must be in [-8, 7]"));
  }
  const size_t row = (columns + 1) / 2;
  const auto rows = static_cast<size_t>(view.sizes[0]);
  return exir::Blob::produced(rows * row, [plain, rows, row, columns](absl::Span<uint8_t> out) {
    const exir::Blob::Bytes bytes = plain.bytes();
    for (size_t i = 0; i < rows; ++i) {
      const uint8_t* in = bytes.data() + i * columns;
      for (size_t k = 0; k < row; ++k) {
        const int low = static_cast<int8_t>(in[2 * k]) + 8;
        const int high = 2 * k + 1 < columns ? static_cast<int8_t>(in[2 * k + 1]) + 8 : 8;
        out[i * row + k] = static_cast<uint8_t>(low | high << 4);
      }
    }
  });
}

}  // namespace petrel::backends::xnnpack::aot
