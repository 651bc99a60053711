// SPDX-License-Identifier: Apache-2.0
//
// Softmax of levels along one dim (docs/int8.md):
//
//   int8_softmax.out(Tensor input, int dim, Tensor table, int multiplier, int shift,
//     int zero_point, int least, int most, ScalarType dtype, *, out)
//   int8_masked_softmax.out(Tensor input, Tensor mask, int dim, Tensor table, ...)
//
// table[d], int32, is the exponential of a level that is d below the largest. An output is
// table[d] * multiplier / 2^shift over the sum of the entries of all, rounded once. What a mask
// shuts out, by false, counts as nothing; rows that it shuts out whole are 0.
#include "runtime/kernels/portable/int8_levels.h"
#include "runtime/micro/math/level_of_share.h"

namespace petrel::runtime::portable {
namespace {

// By index of the input; the mask of some repeats over leading dims.
class Mask {
 public:
  Mask() = default;
  explicit Mask(const Tensor& mask)
      : data_(static_cast<const uint8_t*>(mask.const_data_ptr())), count_(mask.numel()) {}

  bool allows(size_t i) const { return data_ == nullptr || data_[i % count_] != 0; }

 private:
  const uint8_t* data_ = nullptr;
  size_t count_ = 1;
};

bool check_mask(KernelRuntimeContext& context, const Tensor& mask, const Tensor& input) {
  if (!check(context, mask.scalar_type() == ScalarType::Bool && mask.dim() <= input.dim(),
             "a mask must be bool, of no more dims than the input") ||
      !check_contiguous(context, mask)) {
    return false;
  }
  for (ssize_t d = 0; d < mask.dim(); ++d) {
    if (!check(context,
               mask.sizes()[static_cast<size_t>(mask.dim() - 1 - d)] ==
                   input.sizes()[static_cast<size_t>(input.dim() - 1 - d)],
               "a mask must have the last dims of the input")) {
      return false;
    }
  }
  return true;
}

// Arguments `first` and behind it: int dim, Tensor table, ..., out.
void softmax(KernelRuntimeContext& context, KernelArgs& args, size_t first, bool is_masked) {
  const Tensor input = args.tensor(0);
  const int64_t dim = args.integer(first);
  const Tensor table = args.tensor(first + 1);
  const int64_t multiplier = args.integer(first + 2);
  const int64_t shift = args.integer(first + 3);
  const Tensor out = args.out(first + 8);
  Int8Target target;
  size_t d = 0;
  if (!args.ok() || !read_target(context, args, first + 4, out, &target) ||
      !check_levels(context, input) || !check(context, input.dim() >= 1, "input must have a dim") ||
      !normalize_dim(context, dim, input.dim(), &d) ||
      !check(context, table.scalar_type() == ScalarType::Int && table.numel() == 256,
             "a table must have 256 entries of int32") ||
      !check_contiguous(context, table) || !check_multiplier(context, multiplier) ||
      !check_shift(context, shift) || (is_masked && !check_mask(context, args.tensor(1), input)) ||
      !resize_out(context, out, input.sizes()) || !check_contiguous(context, out)) {
    return;
  }
  const Mask mask = is_masked ? Mask(args.tensor(1)) : Mask();
  const auto rank = static_cast<size_t>(input.dim());
  const auto count = static_cast<size_t>(input.sizes()[d]);
  const size_t inner = product(input.sizes(), d + 1, rank);
  const size_t rows = product(input.sizes(), 0, d) * inner;
  const int32_t* const entries = table.const_data_ptr<int32_t>();
  const int64_t most_sum = int64_t{1} << (kMostShift - shift);
  const LevelReader from(input);
  LevelWriter writer(out);
  for (size_t row = 0; row < rows && count > 0; ++row) {
    const size_t begin = row / inner * count * inner + row % inner;
    int32_t largest = -256;
    for (size_t i = begin; i < begin + count * inner; i += inner) {
      const int32_t level = from.at(i);
      if (mask.allows(i) && level > largest) largest = level;
    }
    // In range whatever was written meanwhile.
    const auto entry_of = [&](size_t i) -> int64_t {
      return mask.allows(i) ? entries[(largest - from.at(i)) & 255] : 0;
    };
    int64_t sum = 0;
    for (size_t i = begin; i < begin + count * inner; i += inner) sum += entry_of(i);
    if (sum == 0 && largest == -256) sum = 1;
    if (!check(context, sum >= 1 && sum <= most_sum, "a sum of exponentials is out of range")) {
      return;
    }
    for (size_t i = begin; i < begin + count * inner; i += inner) {
      writer.put(i, petrel_level_of_share(entry_of(i) * multiplier, sum << shift, target.zero_point,
                                          target.least, target.most));
    }
  }
}

}  // namespace

void int8_softmax_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 10);
  softmax(context, args, 1, false);
}

void int8_masked_softmax_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 11);
  softmax(context, args, 2, true);
}

}  // namespace petrel::runtime::portable
