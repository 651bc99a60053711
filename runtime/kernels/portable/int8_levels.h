// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of integers share (docs/int8.md): reading levels of 8 bits, and the
// levels that their results are held within.
//
//   Int8Target target;                        // of "... zero_point, least, most, dtype, out"
//   if (!read_target(context, args, 6, out, &target)) return;
//   LevelWriter(out).put(i, target.level(product, shift));
//
// Numbers come from files: a shift is checked before it is used, sums wrap in 32 bits.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_INT8_LEVELS_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_INT8_LEVELS_H_

#include "runtime/kernels/portable/check.h"
#include "runtime/micro/math/level.h"

namespace petrel::runtime::portable {

inline constexpr int64_t kMostShift = 62;

inline bool holds_levels(ScalarType type) {
  return type == ScalarType::Char || type == ScalarType::Byte;
}

inline bool check_levels(KernelRuntimeContext& context, const Tensor& tensor) {
  return check(context, holds_levels(tensor.scalar_type()), "levels must be int8 or uint8") &&
         check_contiguous(context, tensor);
}

class LevelReader {
 public:
  explicit LevelReader(const Tensor& tensor)
      : is_signed_(tensor.scalar_type() == ScalarType::Char),
        data_(static_cast<const uint8_t*>(tensor.const_data_ptr())) {}

  int32_t at(size_t i) const { return is_signed_ ? static_cast<int8_t>(data_[i]) : data_[i]; }

 private:
  bool is_signed_;
  const uint8_t* data_;
};

class LevelWriter {
 public:
  explicit LevelWriter(const Tensor& tensor)
      : data_(static_cast<uint8_t*>(tensor.mutable_data_ptr())) {}

  void put(size_t i, int32_t level) { data_[i] = static_cast<uint8_t>(level); }

 private:
  uint8_t* data_;
};

struct Int8Target {
  int32_t zero_point = 0, least = 0, most = 0;

  int32_t level(int64_t product, int32_t shift) const {
    return petrel_level(product, shift, zero_point, least, most);
  }
};

// Of levels of 8 bits with or without a sign.
inline bool check_zero_point(KernelRuntimeContext& context, int64_t zero_point) {
  return check(context, zero_point >= -128 && zero_point <= 255,
               "a zero point is not in [-128, 255]");
}

inline bool check_shift(KernelRuntimeContext& context, int64_t shift) {
  return check(context, shift >= 1 && shift <= kMostShift, "a shift is not in [1, 62]");
}

inline bool check_multiplier(KernelRuntimeContext& context, int64_t multiplier) {
  return check(context, multiplier >= -INT32_MAX && multiplier <= INT32_MAX,
               "a multiplier has more than 32 bits");
}

// Arguments `first` and behind it: int zero_point, int least, int most, ScalarType dtype. The
// order of `out` is to be checked once it has its sizes.
inline bool read_target(KernelRuntimeContext& context, KernelArgs& args, size_t first,
                        const Tensor& out, Int8Target* target) {
  const int64_t zero_point = args.integer(first);
  const int64_t least = args.integer(first + 1);
  const int64_t most = args.integer(first + 2);
  const auto dtype = args.optional_scalar_type(first + 3);
  if (!args.ok() ||
      !check(context, holds_levels(out.scalar_type()), "levels must be int8 or uint8") ||
      !check_zero_point(context, zero_point)) {
    return false;
  }
  const bool is_signed = out.scalar_type() == ScalarType::Char;
  if (!check(context, dtype == out.scalar_type(), "dtype is not that of the output") ||
      !check(context,
             least <= most && least >= (is_signed ? -128 : 0) && most <= (is_signed ? 127 : 255),
             "least and most are no range of levels")) {
    return false;
  }
  *target = {static_cast<int32_t>(zero_point), static_cast<int32_t>(least),
             static_cast<int32_t>(most)};
  return true;
}

// One multiplier and shift for each of `count` channels.
class Int8Scales {
 public:
  static bool read(KernelRuntimeContext& context, const Tensor& multipliers, const Tensor& shifts,
                   int64_t count, Int8Scales* scales) {
    if (!check(context,
               multipliers.scalar_type() == ScalarType::Int &&
                   shifts.scalar_type() == ScalarType::Char,
               "multipliers must be int32 and shifts int8") ||
        !check_contiguous(context, multipliers) || !check_contiguous(context, shifts) ||
        !check(context,
               static_cast<int64_t>(multipliers.numel()) == count &&
                   static_cast<int64_t>(shifts.numel()) == count,
               "multipliers and shifts must have one element for each channel")) {
      return false;
    }
    scales->multipliers_ = multipliers.const_data_ptr<int32_t>();
    scales->shifts_ = shifts.const_data_ptr<int8_t>();
    return true;
  }

  int64_t multiplier(int64_t channel) const { return multipliers_[channel]; }
  // Read once a channel and checked then: an output may lie on it.
  int32_t shift(int64_t channel) const { return shifts_[channel]; }

 private:
  const int32_t* multipliers_ = nullptr;
  const int8_t* shifts_ = nullptr;
};

// A bias counts in steps of a product, one for each of `count` channels.
inline bool check_int8_bias(KernelRuntimeContext& context, const std::optional<Tensor>& bias,
                            int64_t count) {
  return !bias || (check(context, bias->scalar_type() == ScalarType::Int, "a bias must be int32") &&
                   check_contiguous(context, *bias) &&
                   check(context, static_cast<int64_t>(bias->numel()) == count,
                         "a bias must have one element for each channel"));
}

// Sums wrap in 32 bits; the compiler refuses what would.
class Int8Sum {
 public:
  explicit Int8Sum(int32_t start) : sum_(static_cast<uint32_t>(start)) {}
  void add(int32_t product) { sum_ += static_cast<uint32_t>(product); }
  int64_t value() const { return static_cast<int32_t>(sum_); }

 private:
  uint32_t sum_;
};

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_INT8_LEVELS_H_
