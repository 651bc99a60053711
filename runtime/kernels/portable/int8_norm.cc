// SPDX-License-Identifier: Apache-2.0
//
// Rows of levels less their mean, over the root of their variance (docs/int8.md):
//
//   int8_norm.out(Tensor input, int size, int repeat, Tensor weight, Tensor bias, int epsilon,
//     int spread, int shift, int zero_point, int least, int most, ScalarType dtype, *, out)
//
// Of a row of n levels q, sum S and sum of squares Q:
//
//   root = sqrt((n * Q - S * S) * 2^(2 * spread) + epsilon), to the nearest integer
//   out  = ((n * q - S) * weight + root * bias) / (root * 2^shift), rounded once
//
// Element i of the input has the weight (i / repeat) % weights.
#include "runtime/kernels/portable/int8_levels.h"
#include "runtime/micro/math/level_of_share.h"
#include "runtime/micro/math/square_root.h"

namespace petrel::runtime::portable {
namespace {

constexpr int64_t kMostSize = 1 << 20;
constexpr int64_t kMostNormShift = 30;
// Of the sum under the root.
constexpr int64_t kMostEpsilon = int64_t{1} << 61;

// n * Q - S * S is at most n^2 * 2^14, as a variance of levels is at most 2^14.
bool has_room(int64_t size, int64_t spread) {
  int64_t bits = 0;
  while (size >> bits != 0) ++bits;
  return 2 * bits + 14 + 2 * spread <= 61;
}

bool check_numbers(KernelRuntimeContext& context, const Tensor& tensor, size_t count) {
  return check(context, tensor.scalar_type() == ScalarType::Int && tensor.numel() == count,
               "weights and biases must be int32, and as many") &&
         check_contiguous(context, tensor);
}

}  // namespace

void int8_norm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 13);
  const Tensor input = args.tensor(0);
  const int64_t size = args.integer(1);
  const int64_t repeat = args.integer(2);
  const Tensor weight = args.tensor(3);
  const Tensor bias = args.tensor(4);
  const int64_t epsilon = args.integer(5);
  const int64_t spread = args.integer(6);
  const int64_t shift = args.integer(7);
  const Tensor out = args.out(12);
  Int8Target target;
  if (!args.ok() || !read_target(context, args, 8, out, &target) || !check_levels(context, input) ||
      !check(context, size >= 1 && size <= kMostSize && repeat >= 1 && repeat <= kMostSize,
             "size and repeat must be in [1, 2^20]") ||
      !check(context, static_cast<int64_t>(input.numel()) % size == 0,
             "the input must have whole rows") ||
      !check(context, weight.numel() > 0, "there must be a weight") ||
      !check_numbers(context, weight, weight.numel()) ||
      !check_numbers(context, bias, weight.numel()) ||
      !check(context, epsilon >= 0 && epsilon <= kMostEpsilon, "epsilon is out of range") ||
      !check(context, spread >= 0 && spread <= kMostNormShift && has_room(size, spread),
             "spread is out of range") ||
      !check(context, shift >= 0 && shift <= kMostNormShift, "a shift is not in [0, 30]") ||
      !resize_out(context, out, input.sizes()) || !check_contiguous(context, out)) {
    return;
  }
  const int32_t* const weights = weight.const_data_ptr<int32_t>();
  const int32_t* const biases = bias.const_data_ptr<int32_t>();
  const auto width = static_cast<size_t>(weight.numel());
  const auto count = static_cast<size_t>(size);
  const LevelReader from(input);
  LevelWriter writer(out);
  for (size_t begin = 0; begin < input.numel(); begin += count) {
    int64_t sum = 0, squares = 0;
    for (size_t i = 0; i < count; ++i) {
      const int64_t level = from.at(begin + i);
      sum += level;
      squares += level * level;
    }
    const int64_t variance = size * squares - sum * sum;
    const int64_t root = petrel_square_root((variance << (2 * spread)) + epsilon);
    const int64_t divisor = root < 1 ? 1 : root;
    for (size_t i = 0; i < count; ++i) {
      const size_t c = (begin + i) / static_cast<size_t>(repeat) % width;
      const int64_t difference = size * from.at(begin + i) - sum;
      writer.put(begin + i, petrel_level_of_share(difference * weights[c] + divisor * biases[c],
                                                  divisor << shift, target.zero_point, target.least,
                                                  target.most));
    }
  }
}

}  // namespace petrel::runtime::portable
