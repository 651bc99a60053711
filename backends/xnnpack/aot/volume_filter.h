// SPDX-License-Identifier: Apache-2.0
//
// The filter and the bias of a convolution of volumes, as constants of ones of images:
//
//   PyTorch        [O, I/g, k, kh, kw]      transposed [I, O/g, k, kh, kw]
//   of_images      [O, kh, kw, n*I/g]       of n planes, plane by plane; depthwise [1, kh, kw, O]
//   of_outputs     [n*O, kh, kw, I]         plane by plane
//   of_columns     [O, k, 1, I/g]           depthwise [1, k, 1, O]
//
// All are of f32: XNNPACK has convolutions of f16 with filters and biases of f32 only.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_VOLUME_FILTER_H_
#define PETREL_BACKENDS_XNNPACK_AOT_VOLUME_FILTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/xnnpack/aot/convolution_arguments.h"
#include "backends/xnnpack/aot/lowering.h"

namespace petrel::backends::xnnpack::aot {

class VolumeFilter {
 public:
  // Precondition: weight and bias are constants, the weight contiguous, channels fixed. All
  // arguments must outlive this.
  VolumeFilter(Lowering& lowering, const exir::Node& node, const ConvolutionArguments& arguments);

  int64_t inputs() const { return inputs_; }
  int64_t outputs() const { return outputs_; }
  int64_t planes() const { return sizes_[2]; }
  int64_t height() const { return sizes_[3]; }
  int64_t width() const { return sizes_[4]; }
  bool is_depthwise() const { return arguments_.is_depthwise(inputs_); }

  // Of planes [first, first + count); one plane where there are groups.
  absl::StatusOr<uint32_t> of_images(int64_t first, int64_t count);
  // Precondition: there is one group, and the convolution is not transposed.
  absl::StatusOr<uint32_t> of_outputs(int64_t first, int64_t count);
  // Precondition: height and width are 1.
  absl::StatusOr<uint32_t> of_columns();

  // kNoId for none.
  absl::StatusOr<uint32_t> bias();
  // Of `count` outputs, with zeros but for those from `first` on.
  absl::StatusOr<uint32_t> bias_among(uint32_t count, uint32_t first);

 private:
  absl::StatusOr<uint32_t> constant(int64_t first, int64_t count, const std::vector<size_t>& axes,
                                    Dims dims);
  exir::ConstantPtr cut_planes(int64_t first, int64_t count) const;
  absl::StatusOr<uint32_t> add_floats(const exir::ConstantPtr& source,
                                      const std::vector<double>& numbers,
                                      const std::string& recipe);
  bool is_half() const { return weight_->type.dtype == exir::ScalarType::kHalf; }

  Lowering& lowering_;
  const ConvolutionArguments& arguments_;
  const exir::ConstantPtr weight_;
  const exir::ConstantPtr bias_;  // null for none
  const exir::Sizes sizes_;       // of the weight
  const int64_t inputs_;
  const int64_t outputs_;
};

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_VOLUME_FILTER_H_
