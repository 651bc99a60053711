// SPDX-License-Identifier: Apache-2.0
//
// Constants in another order: a view of a constant's elements, given as sizes
// and strides (in elements) into its data, becomes a Blob. Nothing is copied
// when the view is the data as it lies.
//
//   WeightView ohwi = WeightView::of(*constant).permuted({0, 2, 3, 1});
//   Blob blob = weights.blob(constant, ohwi);
//
// A WeightBlobs remembers what it made, so that a weight that several parts of
// a program use is permuted and hashed once.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_WEIGHT_BLOB_H_
#define PETREL_BACKENDS_XNNPACK_AOT_WEIGHT_BLOB_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/constant.h"

namespace petrel::backends::xnnpack::aot {

struct WeightView {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  // The constant as the IR sees it, whatever its dim_order.
  static WeightView of(const exir::Constant& constant);

  // Axis i of the result is axis axes[i] of this.
  WeightView permuted(const std::vector<size_t>& axes) const;
  // How the view lies in a constant of type `source`: "" when it is the data as
  // it lies; the axes of the source in the order of the view, "0231", without
  // those of one element; or, for views with an axis split, sizes and strides.
  std::string form(const exir::TensorType& source) const;
  // What the bytes of the view are: those of `source` when they lie as there,
  // else the sizes of the view but for ones.
  exir::TensorType type(const exir::TensorType& source) const;

  // With ones in front, up to `rank`.
  WeightView padded_to(size_t rank) const;
  // With an axis of one element before axis `axis`.
  WeightView with_axis(size_t axis) const;
  // Axis `axis` as two, the outer of `outer` elements, which must divide it.
  WeightView with_axis_split(size_t axis, int64_t outer) const;
};

class WeightBlobs {
 public:
  // Precondition: `view` lies within the data of `constant`, items of 4, 2 or 1 bytes.
  exir::Blob blob(const exir::ConstantPtr& constant, const WeightView& view);
  // A matrix of i8 with two elements of a row in a byte, the first in the low bits, 8
  // added to each; rows of odd length end with a 0. InvalidArgument for an element
  // outside of [-8, 7].
  absl::StatusOr<exir::Blob> in_4_bits(const exir::ConstantPtr& constant, const WeightView& view);

 private:
  using Key = std::tuple<const exir::Constant*, std::vector<int64_t>, std::vector<int64_t>>;
  std::map<Key, exir::Blob> blobs_;
  // Keys are addresses: the constants must stay.
  std::vector<exir::ConstantPtr> constants_;
};

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_WEIGHT_BLOB_H_
