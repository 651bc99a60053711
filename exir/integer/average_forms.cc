// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/integer/forms.h"
#include "exir/integer/product_arguments.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// First index, end and divisor of each window of a dim. An end and a divisor of kSize are the size
// of the dim, which varies.
using Windows = Ints;
constexpr int64_t kSize = -1;

// So many that C has room for three numbers of each.
absl::Status check_windows(int64_t count) { return check_table({3, count}); }

// Windows are numbers of now. How many planes there are may vary.
bool has_fixed_planes(const TensorType& type) {
  return type.rank() >= 2 && !type.varies(type.rank() - 2) && !type.varies(type.rank() - 1);
}

Windows each_alone(int64_t size) {
  Windows windows;
  for (int64_t i = 0; i < size; ++i) windows.insert(windows.end(), {i, i + 1, 1});
  return windows;
}

// The largest number of elements, and the largest divisor, in a dim of at most `size`.
std::pair<int64_t, int64_t> largest(const Windows& windows, int64_t size) {
  const auto known = [size](int64_t number) { return number == kSize ? size : number; };
  std::pair<int64_t, int64_t> most = {0, 1};
  for (size_t i = 0; i < windows.size(); i += 3) {
    most.first = std::max(most.first, known(windows[i + 1]) - windows[i]);
    most.second = std::max(most.second, known(windows[i + 2]));
  }
  return most;
}

absl::StatusOr<Value*> average(Builder& b, const FormOperand& x, Value* input, Windows rows,
                               Windows columns, const FormTarget& target) {
  const TensorType& type = input->tensor();
  const auto [tall, divisor_of_rows] = largest(rows, type.sizes[type.rank() - 2]);
  const auto [wide, divisor_of_columns] = largest(columns, type.sizes[type.rank() - 1]);
  const double sum =
      static_cast<double>(tall) * static_cast<double>(wide) * static_cast<double>(x.levels.reach());
  if (sum > 2147483647.0)
    return cannot(absl::StrCat("it may sum up to ", sum, ", more than int32 holds"));
  const int32_t spent = bits_of(divisor_of_rows) + bits_of(divisor_of_columns);
  if (spent >= kMostShift) return cannot("it divides by more than 32 bits hold");
  PETREL_ASSIGN_OR_RETURN(const FixedPoint point, factor_of(x.levels.scale * target.levels.inverse,
                                                            kMultiplierBits, kMostShift - spent));
  return with_target(b, petrel_ops::int8_average,
                     {Argument(input), Argument(std::move(rows)), Argument(std::move(columns)),
                      Argument(x.levels.zero_point), Argument(int64_t{point.multiplier}),
                      Argument(int64_t{point.shift})},
                     target);
}

absl::StatusOr<Value*> viewed(Builder& b, Value* value, const Sizes& sizes) {
  return b.call(aten::view, {value, Ints(sizes.begin(), sizes.end())});
}

// The dims that `node` reduces; none of a number, whose only dim has one element.
std::vector<bool> reduced_dims(const Node& node, size_t rank) {
  const bool has_dims = node.op().find_arg(arg::dim) >= 0;
  const Ints dims = has_dims ? ints_at(node, arg::dim, 1) : Ints();
  std::vector<bool> reduced(rank, dims.empty());
  if (rank == 0) return reduced;
  for (const int64_t dim : dims) reduced[static_cast<size_t>(wrap_dim(dim, rank))] = true;
  return reduced;
}

// Dims that are reduced behind all others, where they do not lie side by side.
absl::StatusOr<Value*> reduced_last(Builder& b, Value* x, const std::vector<bool>& reduced) {
  Ints order;
  for (const bool last : {false, true}) {
    for (size_t d = 0; d < reduced.size(); ++d) {
      if (reduced[d] == last) order.push_back(static_cast<int64_t>(d));
    }
  }
  return b.permute(x, order);
}

// As [outer, reduced, inner]; nothing where dims that are reduced do not lie side by side.
struct Reduction {
  int64_t outer = 1, count = 1, inner = 1;
};

std::optional<Reduction> side_by_side(const Sizes& sizes, const std::vector<bool>& reduced) {
  Reduction made;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (reduced[d]) {
      if (made.inner != 1) return std::nullopt;
      made.count *= sizes[d];
    } else {
      (made.count == 1 ? made.outer : made.inner) *= sizes[d];
    }
  }
  return made;
}

// Of tensors whose sizes vary, windows are of the last two dims as they are.
bool reduces_last_two(const TensorType& type, const std::vector<bool>& reduced) {
  const size_t rank = type.rank();
  if (rank < 2 || std::find(reduced.begin(), reduced.end() - 2, true) != reduced.end() - 2) {
    return false;
  }
  return (reduced[rank - 2] || !type.varies(rank - 2)) &&
         (reduced[rank - 1] || !type.varies(rank - 1));
}

absl::StatusOr<Value*> reduce_last_two(Builder& b, const Node& node, const FormOperand& x,
                                       const std::vector<bool>& reduced, const FormTarget& target,
                                       bool divides) {
  const TensorType& type = x.value->tensor();
  Windows windows[2];
  Ints gone;
  for (size_t i = 0; i < 2; ++i) {
    const size_t d = type.rank() - 2 + i;
    const int64_t size = type.varies(d) ? kSize : type.sizes[d];
    if (!reduced[d]) PETREL_RETURN_IF_ERROR(check_windows(size));
    if (size == kSize && divides && !is_at_least(sizes_of(type)[d], 1)) {
      return cannot("it may average no elements");
    }
    windows[i] = reduced[d] ? Windows{0, size, divides ? size : 1} : each_alone(size);
    if (reduced[d]) gone.push_back(static_cast<int64_t>(d));
  }
  PETREL_ASSIGN_OR_RETURN(
      Value * made, average(b, x, x.value, std::move(windows[0]), std::move(windows[1]), target));
  const TensorType& result = node.result()->tensor();
  if (result.rank() == type.rank()) return made;
  if (!type.is_dynamic()) return viewed(b, made, result.sizes);
  return b.call(aten::squeeze_dims, {made, gone});
}

// One window over all of a dim.
absl::StatusOr<Windows> all_of(const rules::Size& size, bool divides) {
  if (divides && !is_at_least(size, 1)) return cannot("it may average no elements");
  const int64_t end = size.expression().is_constant() ? int64_t{size} : kSize;
  return Windows{0, end, divides ? end : 1};
}

// Dims that are reduced as the last two, behind all others.
absl::StatusOr<Value*> reduce_varying(Builder& b, const Node& node, const FormOperand& x,
                                      const std::vector<bool>& reduced, const FormTarget& target,
                                      bool divides) {
  PETREL_ASSIGN_OR_RETURN(Value * input, reduced_last(b, x.value, reduced));
  rules::Sizes planes = sizes_of(input);
  const auto first = planes.begin() + std::count(reduced.begin(), reduced.end(), false);
  const auto second = std::min(first + 1, planes.end());
  const rules::Size height = product(rules::Sizes(first, second));
  const rules::Size width = product(rules::Sizes(second, planes.end()));
  planes.erase(first, planes.end());
  const auto rank = static_cast<int64_t>(planes.size());
  planes.insert(planes.end(), {height, width});
  PETREL_ASSIGN_OR_RETURN(Windows rows, all_of(height, divides));
  PETREL_ASSIGN_OR_RETURN(Windows columns, all_of(width, divides));
  PETREL_ASSIGN_OR_RETURN(input, view_of(b, node.input(arg::self), input, planes));
  PETREL_ASSIGN_OR_RETURN(Value * made,
                          average(b, x, input, std::move(rows), std::move(columns), target));
  PETREL_ASSIGN_OR_RETURN(made, b.call(aten::squeeze_dims, {made, Ints{rank, rank + 1}}));
  for (size_t d = 0; made->tensor().rank() < node.result()->tensor().rank(); ++d) {
    if (!reduced[d]) continue;
    PETREL_ASSIGN_OR_RETURN(made, b.call(aten::unsqueeze, {made, static_cast<int64_t>(d)}));
  }
  return made;
}

// Sums over dims, divided by `divisor` of what is summed.
absl::StatusOr<Value*> reduce(Builder& b, const Node& node, const FormTarget& target,
                              bool divides) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::self), "input"));
  const TensorType& type = x.value->tensor();
  if (type.numel() == 0) return cannot("it averages no elements");
  const auto over = [&](int64_t size) { return Windows{0, size, divides ? size : 1}; };
  std::vector<bool> reduced = reduced_dims(node, type.rank());
  // Planes as they are, so that channels stay what they are.
  if (reduced == std::vector<bool>{false, false, true, true} ||
      (type.is_dynamic() && reduces_last_two(type, reduced))) {
    return reduce_last_two(b, node, x, reduced, target, divides);
  }
  if (type.is_dynamic()) return reduce_varying(b, node, x, reduced, target, divides);
  Value* input = x.value;
  std::optional<Reduction> found = side_by_side(type.sizes, reduced);
  if (!found) {
    PETREL_ASSIGN_OR_RETURN(input, reduced_last(b, input, reduced));
    std::sort(reduced.begin(), reduced.end());
    found = side_by_side(input->tensor().sizes, reduced);
  }
  const auto [outer, count, inner] = *found;
  PETREL_RETURN_IF_ERROR(check_windows(inner));
  const bool is_last = inner == 1;
  Sizes planes = {outer, count, inner};
  if (is_last) std::swap(planes[1], planes[2]);
  PETREL_ASSIGN_OR_RETURN(input, viewed(b, input, planes));
  PETREL_ASSIGN_OR_RETURN(Value * made, average(b, x, input, is_last ? each_alone(1) : over(count),
                                                is_last ? over(count) : each_alone(inner), target));
  return viewed(b, made, node.result()->tensor().sizes);
}

absl::StatusOr<Value*> mean(Builder& b, const Node& node, const FormTarget& target) {
  return reduce(b, node, target, true);
}

absl::StatusOr<Value*> sum(Builder& b, const Node& node, const FormTarget& target) {
  return reduce(b, node, target, false);
}

struct Pool {
  int64_t in, out, kernel, stride, padding;
  bool counts_padding;

  Windows windows() const {
    Windows windows;
    for (int64_t i = 0; i < out; ++i) {
      const int64_t start = i * stride - padding;
      const int64_t padded = std::min(start + kernel, in + padding);
      const int64_t first = std::clamp<int64_t>(start, 0, in);
      const int64_t end = std::clamp<int64_t>(start + kernel, 0, in);
      windows.insert(windows.end(), {first, end, counts_padding ? padded - start : end - first});
    }
    return windows;
  }
};

// Where every window divides by the same number, an average is a product with ones.
absl::StatusOr<Value*> pool_varying(Builder& b, const Node& node, const FormOperand& x,
                                    const FormTarget& target) {
  const TensorType& type = x.value->tensor();
  if (type.rank() != 4 || type.varies(1)) return cannot("its channels vary");
  const Ints kernel = ints_at(node, arg::kernel_size, 2);
  Ints stride = ints_at(node, arg::stride, 2), padding = ints_at(node, arg::padding, 2);
  if (stride.empty()) stride = kernel;
  if (padding.empty()) padding = {0, 0};
  const Argument& divisor = node.argument(arg::divisor_override);
  const bool counts = node.argument(arg::count_include_pad).as_bool() || padding == Ints{0, 0};
  if (node.argument(arg::ceil_mode).as_bool() || (!counts && divisor.is_none())) {
    return cannot("windows of planes that vary in size have other divisors at the edge");
  }
  const int64_t channels = type.sizes[1], area = kernel[0] * kernel[1];
  PETREL_RETURN_IF_ERROR(check_table({channels, area}));
  PETREL_ASSIGN_OR_RETURN(
      Blob data, encode_constant(std::vector<double>(static_cast<size_t>(channels * area), 1),
                                 ScalarType::kChar));
  ProductWeight weight;
  weight.levels = add_unique_constant(
      b.graph(), absl::StrCat("int8_ones_", channels, "_", kernel[0], "_", kernel[1]),
      TensorType::contiguous(ScalarType::kChar, {channels, 1, kernel[0], kernel[1]}),
      std::move(data));
  weight.scales = {1 / static_cast<double>(divisor.is_none() ? area : divisor.as_int())};
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          product_arguments(b, x, weight, {}, target));
  for (Argument& one :
       std::vector<Argument>{Argument(stride), Argument(padding), Argument(Ints{1, 1}),
                             Argument(channels), Argument(x.levels.zero_point)}) {
    arguments.push_back(std::move(one));
  }
  return with_target(b, petrel_ops::int8_convolution, std::move(arguments), target);
}

absl::StatusOr<Value*> average_pool(Builder& b, const Node& node, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::self), "input"));
  const TensorType& type = x.value->tensor();
  if (!has_fixed_planes(type)) return pool_varying(b, node, x, target);
  const Ints kernel = ints_at(node, arg::kernel_size, 2);
  Ints stride = ints_at(node, arg::stride, 2);
  if (stride.empty()) stride = kernel;
  Ints padding = ints_at(node, arg::padding, 2);
  if (padding.empty()) padding = {0, 0};
  const Argument& divisor = node.argument(arg::divisor_override);
  Windows windows[2];
  for (size_t i = 0; i < 2; ++i) {
    const size_t d = type.rank() - 2 + i;
    PETREL_RETURN_IF_ERROR(check_windows(node.result()->tensor().sizes[d]));
    windows[i] = Pool{type.sizes[d], node.result()->tensor().sizes[d],
                      kernel[i],     stride[i],
                      padding[i],    node.argument(arg::count_include_pad).as_bool()}
                     .windows();
    for (size_t k = 2; k < windows[i].size(); k += 3) {
      if (!divisor.is_none()) windows[i][k] = i == 0 ? divisor.as_int() : 1;
      if (windows[i][k] < 1) return cannot("a window of it has no elements, or a divisor below 1");
    }
  }
  return average(b, x, x.value, std::move(windows[0]), std::move(windows[1]), target);
}

// Every window has an element; dilation is the step.
std::optional<Windows> max_windows(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                                   int64_t padding, int64_t dilation) {
  Windows windows;
  for (int64_t i = 0; i < out; ++i) {
    int64_t first = i * stride - padding;
    const int64_t end = std::min(first + (kernel - 1) * dilation + 1, in);
    if (first < 0) first += (-first + dilation - 1) / dilation * dilation;
    if (first >= end) return std::nullopt;
    windows.insert(windows.end(), {first, end, dilation});
  }
  return windows;
}

// Window i of n covers [floor(i * in / n), ceil((i + 1) * in / n)).
absl::StatusOr<Value*> adaptive_pool(Builder& b, const Node& node, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::self), "input"));
  const TensorType& type = x.value->tensor();
  if (type.rank() < 2) return cannot("it has no planes");
  Windows windows[2];
  for (size_t i = 0; i < 2; ++i) {
    const size_t d = type.rank() - 2 + i;
    if (type.varies(d)) {
      if (!is_always(sizes_of(node.result())[d], 1)) return cannot("its planes vary in size");
      PETREL_ASSIGN_OR_RETURN(windows[i], all_of(sizes_of(type)[d], true));
      continue;
    }
    const int64_t in = type.sizes[d], out = node.result()->tensor().sizes[d];
    PETREL_RETURN_IF_ERROR(check_windows(out));
    for (int64_t k = 0; k < out; ++k) {
      const int64_t first = k * in / out, end = ((k + 1) * in + out - 1) / out;
      windows[i].insert(windows[i].end(), {first, end, end - first});
    }
  }
  return average(b, x, x.value, std::move(windows[0]), std::move(windows[1]), target);
}

constexpr FormRow kRows[] = {
    {aten::mean_dim, mean},
    {aten::mean, mean},
    {aten::sum_dim_IntList, sum},
    {aten::sum, sum},
    {aten::avg_pool2d, average_pool},
    {aten::_adaptive_avg_pool2d, adaptive_pool},
    {aten::adaptive_avg_pool2d, adaptive_pool},
};

}  // namespace

absl::StatusOr<Value*> max_pool_form(Builder& b, const Node& node) {
  if (!node.is(aten::max_pool2d)) return nullptr;
  const TensorType& type = node.input(arg::self)->tensor();
  const bool is_narrow = type.dtype == ScalarType::kChar || type.dtype == ScalarType::kByte;
  if (!is_narrow || !has_fixed_planes(type)) return nullptr;
  const Ints kernel = ints_at(node, arg::kernel_size, 2);
  const auto numbers = [&](ArgHandle name, const Ints& otherwise) {
    const Ints given = ints_at(node, name, 2);
    return given.empty() ? otherwise : given;
  };
  const Ints stride = numbers(arg::stride, kernel), padding = numbers(arg::padding, {0, 0}),
             dilation = numbers(arg::dilation, {1, 1});
  Windows windows[2];
  for (size_t i = 0; i < 2; ++i) {
    const size_t d = type.rank() - 2 + i;
    if (!check_windows(node.result()->tensor().sizes[d]).ok()) return nullptr;
    auto found = max_windows(type.sizes[d], node.result()->tensor().sizes[d], kernel[i], stride[i],
                             padding[i], dilation[i]);
    if (!found) return nullptr;
    windows[i] = *std::move(found);
  }
  return b.call(petrel_ops::int8_max_pool, {node.input(arg::self), windows[0], windows[1]});
}

absl::Span<const FormRow> average_forms() { return kRows; }

}  // namespace petrel::exir
