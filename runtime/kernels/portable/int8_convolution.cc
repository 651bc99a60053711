// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of levels (docs/int8.md), with one and two spatial dimensions; one is read as
// two of which the first is 1:
//
//   int8_convolution.out(Tensor input, Tensor weight, Tensor? bias, Tensor multiplier,
//     Tensor shift, int[] stride, int[] padding, int[] dilation, int groups,
//     int input_zero_point, int zero_point, int least, int most, ScalarType dtype, *, out)
//
// Padding stands for 0, so it adds nothing to a sum of (input - input_zero_point) * weight.
#include "runtime/kernels/portable/int8_levels.h"

namespace petrel::runtime::portable {
namespace {

// One spatial dimension.
struct Slide {
  int64_t in = 1, kernel = 1, out = 1;
  int64_t stride = 1, padding = 0, dilation = 1;
};

struct Int8Convolution {
  int64_t batch = 0, groups = 1;
  int64_t channels = 0, filters = 0;  // of a group
  Slide rows, columns;
  int32_t input_zero_point = 0;

  // The sum of filter `k`, counted over all groups, at one place of the output.
  int64_t sum(const LevelReader& input, const LevelReader& weight, int32_t start, int64_t n,
              int64_t k, int64_t p, int64_t q) const {
    Int8Sum sum(start);
    const int64_t first = (n * groups + k / filters) * channels;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t r = 0; r < rows.kernel; ++r) {
        const int64_t h = p * rows.stride - rows.padding + r * rows.dilation;
        if (h < 0 || h >= rows.in) continue;
        for (int64_t s = 0; s < columns.kernel; ++s) {
          const int64_t w = q * columns.stride - columns.padding + s * columns.dilation;
          if (w < 0 || w >= columns.in) continue;
          const int64_t at = ((first + c) * rows.in + h) * columns.in + w;
          const int64_t with = ((k * channels + c) * rows.kernel + r) * columns.kernel + s;
          sum.add((input.at(static_cast<size_t>(at)) - input_zero_point) *
                  weight.at(static_cast<size_t>(with)));
        }
      }
    }
    return sum.value();
  }
};

// Numbers of a list, one for all dimensions or one for each.
bool read_list(KernelRuntimeContext& context, Span<const int64_t> list, size_t spatial,
               int64_t least, int64_t Slide::*member, Slide* rows, Slide* columns) {
  if (!check(context, list.size() == 1 || list.size() == spatial,
             "a list of the convolution has the wrong length")) {
    return false;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (!check(context, list[i] >= least && list[i] <= INT32_MAX,
               "a parameter of the convolution is out of range")) {
      return false;
    }
  }
  if (spatial == 2) rows->*member = list[0];
  columns->*member = list[list.size() - 1];
  return true;
}

bool find_output(KernelRuntimeContext& context, Slide* slide) {
  const int64_t window = slide->dilation * (slide->kernel - 1) + 1;
  const int64_t room = slide->in + 2 * slide->padding - window;
  if (!check(context, slide->kernel >= 1 && room >= 0, "the kernel does not fit the input")) {
    return false;
  }
  slide->out = room / slide->stride + 1;
  return check(context, slide->out <= INT32_MAX, "the output is too large");
}

// Everything but the list arguments, which are in the slides.
bool read_shape(KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,
                Int8Convolution* g) {
  if (!check(context, input.dim() == 3 || input.dim() == 4, "input must have rank 3 or 4") ||
      !check_rank(context, weight, input.dim()) ||
      !check(context, g->groups >= 1 && weight.size(0) % g->groups == 0,
             "groups do not divide the filters") ||
      !check(context, input.size(1) / g->groups == weight.size(1) && input.size(1) % g->groups == 0,
             "the channels of input and weight differ")) {
    return false;
  }
  g->batch = input.size(0);
  g->channels = weight.size(1);
  g->filters = weight.size(0) / g->groups;
  const ssize_t last = input.dim() - 1;
  g->columns.in = input.size(last);
  g->columns.kernel = weight.size(last);
  if (input.dim() == 4) {
    g->rows.in = input.size(2);
    g->rows.kernel = weight.size(2);
  }
  return find_output(context, &g->rows) && find_output(context, &g->columns);
}

bool resize_convolved(KernelRuntimeContext& context, const Int8Convolution& g, const Tensor& input,
                      const Tensor& weight, const Tensor& out) {
  SizeArray sizes(input.sizes());
  sizes[1] = weight.sizes()[0];
  if (sizes.rank == 4) sizes[2] = static_cast<SizesType>(g.rows.out);
  sizes[sizes.rank - 1] = static_cast<SizesType>(g.columns.out);
  return resize_out(context, out, sizes.span()) && check_contiguous(context, out) &&
         charge_each(context, out, g.channels * g.rows.kernel * g.columns.kernel);
}

}  // namespace

void int8_convolution_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 15);
  const Tensor input = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const Tensor multipliers = args.tensor(3);
  const Tensor shifts = args.tensor(4);
  const Span<const int64_t> stride = args.int_list(5);
  const Span<const int64_t> padding = args.int_list(6);
  const Span<const int64_t> dilation = args.int_list(7);
  Int8Convolution g;
  g.groups = args.integer(8);
  const int64_t input_zero_point = args.integer(9);
  const Tensor out = args.out(14);
  Int8Target target;
  Int8Scales scales;
  if (!args.ok() || !read_target(context, args, 10, out, &target) ||
      !check_levels(context, input) || !check_levels(context, weight) ||
      !check_zero_point(context, input_zero_point)) {
    return;
  }
  const size_t spatial = input.dim() == 3 ? 1 : 2;
  if (!read_list(context, stride, spatial, 1, &Slide::stride, &g.rows, &g.columns) ||
      !read_list(context, padding, spatial, 0, &Slide::padding, &g.rows, &g.columns) ||
      !read_list(context, dilation, spatial, 1, &Slide::dilation, &g.rows, &g.columns) ||
      !read_shape(context, input, weight, &g) ||
      !Int8Scales::read(context, multipliers, shifts, weight.size(0), &scales) ||
      !check_int8_bias(context, bias, weight.size(0)) ||
      !resize_convolved(context, g, input, weight, out)) {
    return;
  }
  g.input_zero_point = static_cast<int32_t>(input_zero_point);
  const LevelReader from(input), with(weight);
  LevelWriter writer(out);
  const int64_t filters = weight.size(0);
  for (int64_t k = 0; k < filters; ++k) {
    const int32_t shift = scales.shift(k);
    if (!check_shift(context, shift)) return;
    const int32_t start = bias ? bias->const_data_ptr<int32_t>()[k] : 0;
    for (int64_t n = 0; n < g.batch; ++n) {
      for (int64_t p = 0; p < g.rows.out; ++p) {
        for (int64_t q = 0; q < g.columns.out; ++q) {
          const int64_t sum = g.sum(from, with, start, n, k, p, q);
          writer.put(static_cast<size_t>(((n * filters + k) * g.rows.out + p) * g.columns.out + q),
                     target.level(sum * scales.multiplier(k), shift));
        }
      }
    }
  }
}

}  // namespace petrel::runtime::portable
