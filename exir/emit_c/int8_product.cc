// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/int8_product.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/node_calls.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// How far a level can be from its zero point.
constexpr int64_t kMostReach = 255;
constexpr int64_t kMostLevel = 128;

template <typename T>
std::vector<T> elements_of(const Value* constant) {
  const Blob::Bytes bytes = constant->constant()->data.bytes();
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  return elements;
}

bool is_known(const Value* value) {
  return value->is_constant() && !value->constant()->is_mutable() &&
         value->constant()->type.is_contiguous();
}

// The numbers of each direction; of one dim the other is `neutral`.
void read_pair(const Argument& argument, bool is_flat, int64_t neutral, int64_t* height,
               int64_t* width) {
  std::vector<int64_t> pair = ints_of(argument, is_flat ? 1 : 2);
  if (is_flat) pair.insert(pair.begin(), neutral);
  *height = pair[0];
  *width = pair[1];
}

Sizes as_plane(Sizes sizes) {
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 2, 1);
  return sizes;
}

void read_linear(const Node& node, Int8Product* product) {
  const Sizes& weight = node.input(arg::weight)->tensor().sizes;
  const Sizes& out = node.result()->tensor().sizes;
  product->is_linear = true;
  for (size_t d = 0; d + 1 < out.size(); ++d) product->batch *= out[d];
  product->filters = weight[0];
  product->channels = weight[1];
}

void read_convolution(const Node& node, Int8Product* product) {
  const bool is_flat = node.input(arg::input)->tensor().rank() == 3;
  const Sizes in = as_plane(node.input(arg::input)->tensor().sizes);
  const Sizes weight = as_plane(node.input(arg::weight)->tensor().sizes);
  const Sizes out = as_plane(node.result()->tensor().sizes);
  product->batch = in[0];
  product->groups = node.argument(arg::groups).as_int();
  product->channels = weight[1];
  product->filters = weight[0] / product->groups;
  product->in_height = in[2];
  product->in_width = in[3];
  product->out_height = out[2];
  product->out_width = out[3];
  product->kernel_height = weight[2];
  product->kernel_width = weight[3];
  read_pair(node.argument(arg::stride), is_flat, 1, &product->stride_height,
            &product->stride_width);
  read_pair(node.argument(arg::padding), is_flat, 0, &product->padding_top, &product->padding_left);
  read_pair(node.argument(arg::dilation), is_flat, 1, &product->dilation_height,
            &product->dilation_width);
}

}  // namespace

std::vector<std::vector<int8_t>> Int8Product::filter_levels() const {
  const std::vector<int8_t> all = elements_of<int8_t>(node->input(arg::weight));
  std::vector<std::vector<int8_t>> filters;
  for (int64_t f = 0; f < all_filters(); ++f) {
    std::vector<int8_t> levels;
    for (int64_t t = 0; t < taps(); ++t) {
      for (int64_t c = 0; c < channels; ++c) {
        levels.push_back(all[static_cast<size_t>((f * channels + c) * taps() + t)]);
      }
    }
    filters.push_back(std::move(levels));
  }
  return filters;
}

std::vector<int32_t> Int8Product::offsets() const {
  const Value* bias = tensor_of(node->argument(arg::bias));
  std::vector<int32_t> offsets(static_cast<size_t>(all_filters()));
  if (bias != nullptr) offsets = elements_of<int32_t>(bias);
  const std::vector<int8_t> all = elements_of<int8_t>(node->input(arg::weight));
  for (size_t i = 0; i < all.size(); ++i) {
    int32_t& offset = offsets[i / static_cast<size_t>(depth())];
    offset = static_cast<int32_t>(static_cast<uint32_t>(offset) -
                                  static_cast<uint32_t>(zero_point * all[i]));
  }
  return offsets;
}

std::vector<int32_t> Int8Product::multipliers() const {
  return elements_of<int32_t>(node->input(arg::multiplier));
}

std::vector<int8_t> Int8Product::shifts() const {
  return elements_of<int8_t>(node->input(arg::shift));
}

std::vector<int64_t> Int8Product::most_sums(int64_t reach) const {
  const Value* bias = tensor_of(node->argument(arg::bias));
  std::vector<int64_t> most(static_cast<size_t>(all_filters()));
  if (bias != nullptr) {
    const std::vector<int32_t> biases = elements_of<int32_t>(bias);
    std::transform(biases.begin(), biases.end(), most.begin(),
                   [](int32_t number) { return std::llabs(number); });
  }
  const std::vector<int8_t> all = elements_of<int8_t>(node->input(arg::weight));
  for (size_t i = 0; i < all.size(); ++i) {
    most[i / static_cast<size_t>(depth())] += reach * std::abs(all[i]);
  }
  return most;
}

bool Int8Product::takes_offsets() const {
  const std::vector<int64_t> most = most_sums(2 * kMostLevel);
  return std::all_of(most.begin(), most.end(),
                     [](int64_t sum) { return sum <= std::numeric_limits<int32_t>::max(); });
}

bool Int8Product::has_near_levels() const {
  const std::vector<int64_t> most = most_sums(kMostReach);
  const std::vector<int32_t> numbers = multipliers();
  const std::vector<int8_t> by = shifts();
  for (size_t f = 0; f < most.size(); ++f) {
    if (by[f] < kNearShift || numbers[f] < 0) return false;
    if (numbers[f] == 0) continue;
    // A sum whose product lies halfway is a multiple of 2^(shift - 1 - trailing zeros).
    int32_t zeros = 0;
    while ((numbers[f] >> zeros & 1) == 0) ++zeros;
    if (most[f] >= int64_t{1} << (by[f] - 1 - zeros)) return false;
  }
  return true;
}

std::string product_text(const Int8Product& product) {
  const std::string types = absl::StrCat(std::string(scalar_type_name(product.in_type)), " -> ",
                                         std::string(scalar_type_name(product.out_type)));
  if (product.is_linear) {
    return absl::StrCat("linear ", product.batch, " x ", product.channels, " -> ", product.filters,
                        ", ", types);
  }
  const auto pair = [](int64_t a, int64_t b) { return absl::StrCat(a, "x", b); };
  return absl::StrCat("convolution ", product.batch, " x ", product.groups * product.channels,
                      " x ", pair(product.in_height, product.in_width), " -> ",
                      product.all_filters(), " x ", pair(product.out_height, product.out_width),
                      ", kernel ", pair(product.kernel_height, product.kernel_width), ", stride ",
                      pair(product.stride_height, product.stride_width), ", padding ",
                      pair(product.padding_top, product.padding_left), ", dilation ",
                      pair(product.dilation_height, product.dilation_width), ", groups ",
                      product.groups, ", ", types);
}

std::optional<Int8Product> int8_product(const Node& node) {
  if (!node.is(petrel_ops::int8_linear, petrel_ops::int8_convolution)) return std::nullopt;
  const TensorType& in = node.input(arg::input)->tensor();
  const TensorType& out = node.result()->tensor();
  const Value* bias = tensor_of(node.argument(arg::bias));
  if (node.input(arg::weight)->tensor().dtype != ScalarType::kChar || in.is_dynamic() ||
      out.is_dynamic() || in.numel() == 0 || out.numel() == 0 ||
      !is_known(node.input(arg::weight)) || !is_known(node.input(arg::multiplier)) ||
      !is_known(node.input(arg::shift)) || (bias != nullptr && !is_known(bias))) {
    return std::nullopt;
  }
  Int8Product product;
  product.node = &node;
  product.in_type = in.dtype;
  product.out_type = out.dtype;
  product.zero_point = node.argument(arg::input_zero_point).as_int();
  if (node.is(petrel_ops::int8_linear)) {
    read_linear(node, &product);
  } else {
    read_convolution(node, &product);
  }
  return product;
}

}  // namespace petrel::exir::emit_c
