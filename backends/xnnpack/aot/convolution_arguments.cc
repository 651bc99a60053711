// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/convolution_arguments.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"

namespace petrel::backends::xnnpack::aot {

using exir::Support;
using Ints = std::vector<int64_t>;

Support read_convolution(const exir::Node& node, ConvolutionArguments* out) {
  const size_t spatial = node.input(arg::input)->tensor().rank() - 2;
  const auto list = [&](exir::ArgHandle name, int64_t absent, int64_t minimum,
                        Ints* result) -> Support {
    std::optional<Ints> values = ints_argument(node.argument(name), spatial);
    if (!values)
      return Support::no(absl::StrCat(name.text, " is not a list of ", spatial, " numbers"));
    if (values->empty()) values->assign(spatial, absent);
    for (const int64_t value : *values) {
      if (value < minimum || value > INT32_MAX) {
        return Support::no(
            absl::StrCat(name.text, " has ", value, ", must be in [", minimum, ", 2^31)"));
      }
    }
    if (spatial == 1) values->insert(values->begin(), absent);
    *result = std::move(*values);
    return Support::yes();
  };
  for (const Support& support :
       {list(arg::stride, 1, 1, &out->stride), list(arg::padding, 0, 0, &out->padding),
        list(arg::dilation, 1, 1, &out->dilation),
        list(arg::output_padding, 0, 0, &out->output_padding)}) {
    if (!support.supported) return support;
  }
  if (!node.argument(arg::groups).is_int() || node.argument(arg::groups).as_int() < 1) {
    return Support::no("groups must be a positive number");
  }
  if (!node.argument(arg::transposed).is_bool()) return Support::no("transposed must be literal");
  out->groups = node.argument(arg::groups).as_int();
  out->transposed = node.argument(arg::transposed).as_bool();
  return Support::yes();
}

Window ConvolutionArguments::window(int64_t kernel_height, int64_t kernel_width) const {
  const size_t row = stride.size() - 2;
  const size_t column = row + 1;
  Window w;
  w.padding_top = w.padding_bottom = static_cast<uint32_t>(padding[row]);
  w.padding_left = w.padding_right = static_cast<uint32_t>(padding[column]);
  w.kernel_height = static_cast<uint32_t>(kernel_height);
  w.kernel_width = static_cast<uint32_t>(kernel_width);
  w.stride_height = static_cast<uint32_t>(stride[row]);
  w.stride_width = static_cast<uint32_t>(stride[column]);
  w.dilation_height = static_cast<uint32_t>(dilation[row]);
  w.dilation_width = static_cast<uint32_t>(dilation[column]);
  return w;
}

}  // namespace petrel::backends::xnnpack::aot
