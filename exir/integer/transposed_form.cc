// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/integer/product_arguments.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// A transposed convolution of stride s is one of stride 1 that makes s channels of each, which
// lie side by side:
//
//   out[c, m * s + f] = sum over j of in[m - j] * w[c, j * s + f]      f in [0, s)
struct Phases {
  int64_t stride, padding, output_padding, dilation, kernel;
  int64_t in, out;

  // Elements before in[m] that out[m * s + f] takes.
  int64_t reach() const { return dilation * (kernel - 1) / stride; }
  // Places behind the input that the last outputs would take.
  int64_t missing() const {
    return std::max<int64_t>((padding + out - 1) / stride + 1 - (in + reach()), 0);
  }
  // The tap of phase f that takes in[m - j]; -1 for none.
  int64_t tap(int64_t f, int64_t j) const {
    const int64_t place = j * stride + f;
    return place % dilation == 0 && place / dilation < kernel ? place / dilation : -1;
  }
};

std::vector<Phases> phases_of(const Node& node) {
  const TensorType& in = node.input(arg::input)->tensor();
  const TensorType& weight = node.input(arg::weight)->tensor();
  const size_t spatial = weight.rank() - 2;
  const auto numbers = [&](ArgHandle name) { return ints_at(node, name, spatial); };
  const Ints stride = numbers(arg::stride), padding = numbers(arg::padding),
             more = numbers(arg::output_padding), dilation = numbers(arg::dilation);
  std::vector<Phases> phases;
  for (size_t d = 0; d < spatial; ++d) {
    phases.push_back({stride[d], padding[d], more[d], dilation[d], weight.sizes[2 + d],
                      in.sizes[2 + d], node.result()->tensor().sizes[2 + d]});
  }
  return phases;
}

// [Cin, Cout, ...] as [Cout * phases, Cin, ...] of the convolution of stride 1; rank 4, a single
// row where it is a line.
absl::StatusOr<ProductWeight> weight_of_phases(Builder& b, const ProductWeight& stored,
                                               const Phases& rows, const Phases& columns,
                                               size_t rank) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> from,
                          decode_constant(*stored.levels->constant()));
  const int64_t in = stored.levels->tensor().sizes[0], out = stored.levels->tensor().sizes[1];
  const int64_t height = rows.reach() + 1, width = columns.reach() + 1;
  PETREL_RETURN_IF_ERROR(check_table({out, rows.stride, columns.stride, in, height, width}));
  std::vector<double> to;
  ProductWeight made;
  for (int64_t c = 0; c < out; ++c) {
    for (int64_t f = 0; f < rows.stride * columns.stride; ++f) {
      made.scales.push_back(stored.scales[stored.scales.size() == 1 ? 0 : static_cast<size_t>(c)]);
      for (int64_t i = 0; i < in * height * width; ++i) {
        const int64_t r = rows.tap(f / columns.stride, height - 1 - i / width % height);
        const int64_t s = columns.tap(f % columns.stride, width - 1 - i % width);
        const int64_t filter = i / (height * width) * out + c;
        to.push_back(
            r < 0 || s < 0
                ? 0
                : from[static_cast<size_t>((filter * rows.kernel + r) * columns.kernel + s)]);
      }
    }
  }
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(to, ScalarType::kChar));
  Sizes sizes = {out * rows.stride * columns.stride, in, height, width};
  if (rank == 3) sizes.erase(sizes.begin() + 2);
  const Constant& constant = *stored.levels->constant();
  made.levels = add_unique_constant(b.graph(), absl::StrCat(constant.fqn, "@phases"),
                                    TensorType::contiguous(ScalarType::kChar, sizes),
                                    std::move(data), constant.kind, constant.sources());
  return made;
}

// The phases of [N, C * s, L] side by side, of [N, C * s * t, H, W] likewise, without what the
// padding takes away.
absl::StatusOr<Value*> interleaved(Builder& b, Value* y, const std::vector<Phases>& phases) {
  const Sizes in = y->tensor().sizes;
  Ints split = {in[0], in[1]}, order = {0, 1}, joined = {in[0], in[1]};
  const auto spatial = static_cast<int64_t>(phases.size());
  for (const Phases& one : phases) {
    split[1] /= one.stride;
    split.push_back(one.stride);
  }
  joined[1] = split[1];
  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t size = in[static_cast<size_t>(2 + d)];
    split.push_back(size);
    order.insert(order.end(), {2 + spatial + d, 2 + d});
    joined.push_back(size * phases[static_cast<size_t>(d)].stride);
  }
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::view, {y, split}));
  PETREL_ASSIGN_OR_RETURN(y, b.permute(y, order));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::view, {y, joined}));
  for (int64_t d = 0; d < spatial; ++d) {
    const Phases& one = phases[static_cast<size_t>(d)];
    PETREL_ASSIGN_OR_RETURN(y, b.slice(y, 2 + d, one.padding, one.padding + one.out));
  }
  return y;
}

}  // namespace

absl::StatusOr<Value*> transposed_form(Builder& b, const Node& node, const FormTarget& target) {
  if (node.argument(arg::groups) != Argument(int64_t{1})) {
    return cannot("transposed convolutions of groups have no integers");
  }
  PETREL_ASSIGN_OR_RETURN(FormOperand x, operand_of(node.argument(arg::input), "input"));
  if (x.value->tensor().is_dynamic()) return cannot("its sizes vary");
  PETREL_ASSIGN_OR_RETURN(const ProductWeight stored, weight_of(node.argument(arg::weight), 1));
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> of_channels, bias_of(node.argument(arg::bias)));
  const std::vector<Phases> phases = phases_of(node);
  const Phases& columns = phases.back();
  const Phases line = {1, 0, 0, 1, 1, 1, 1};
  const Phases& rows = phases.size() == 1 ? line : phases[0];
  PETREL_ASSIGN_OR_RETURN(const ProductWeight weight,
                          weight_of_phases(b, stored, rows, columns, phases.size() + 2));
  std::vector<double> bias;
  for (const double number : of_channels) {
    bias.insert(bias.end(), static_cast<size_t>(rows.stride * columns.stride), number);
  }
  Ints pads, padding;
  for (auto one = phases.rbegin(); one != phases.rend(); ++one) {
    pads.insert(pads.end(), {0, one->missing()});
    padding.insert(padding.begin(), one->reach());
  }
  if (std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad > 0; })) {
    PETREL_ASSIGN_OR_RETURN(x.value,
                            b.call(aten::constant_pad_nd, {x.value, pads, x.levels.zero_point}));
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          product_arguments(b, x, weight, bias, target));
  const Ints ones(phases.size(), 1);
  for (const Ints& numbers : {ones, padding, ones}) arguments.emplace_back(numbers);
  arguments.emplace_back(int64_t{1});
  arguments.emplace_back(x.levels.zero_point);
  PETREL_ASSIGN_OR_RETURN(
      Value * y, with_target(b, petrel_ops::int8_convolution, std::move(arguments), target));
  return interleaved(b, y, phases);
}

}  // namespace petrel::exir
