// SPDX-License-Identifier: Apache-2.0
//
// For tests of optimized kernels against the portable ones, which eager torch
// has checked: on several threads and with each instruction set of this machine,
// between canaries.
//
//   TEST_P(Sweep, Exp) {
//     Array* x = floats({17});
//     compare("aten::exp.out", {value(x)}, {{kFloat, {17}}}, 4e-7);
//   }
//   PETREL_SWEEP_ALL();   // once in a file
//
// Sizes are to stand around the widths of vectors and tiles.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_SWEEP_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_SWEEP_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/evalue.h"
#include "runtime/core/scalar_type.h"
#include "runtime/kernel/kernel.h"

namespace petrel::runtime {

using Sizes = std::vector<int32_t>;

inline constexpr ScalarType kFloat = ScalarType::Float;
inline constexpr ScalarType kBool = ScalarType::Bool;

// A tensor and its memory, in which canaries stand before and after.
class Array {
 public:
  Array(ScalarType type, Sizes sizes, bool channels_last = false);

  uint8_t* data() { return memory_.data() + kMargin; }
  TensorImpl* impl() { return impl_.get(); }
  ScalarType type() const { return impl_->scalar_type(); }
  size_t numel() const { return impl_->numel(); }
  double at(size_t i);
  void set(size_t i, double v);

  // What a kernel finds in memory that it writes.
  void fill(uint8_t byte);
  bool has_bytes_of(const Array& other) const;
  bool margins_are_untouched() const;

 private:
  static constexpr size_t kMargin = 72;
  Sizes sizes_;
  std::vector<uint8_t> order_;
  std::vector<int64_t> strides_;
  std::vector<uint8_t> memory_;
  std::unique_ptr<TensorImpl> impl_;
};

struct Machine {
  int64_t target;  // one of Highway's, or all
  size_t threads;
};
std::vector<Machine> machines();
std::string name_of(const Machine& machine);

class Sweep : public ::testing::TestWithParam<Machine> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Both live as long as the test.
  Array* make(ScalarType type, Sizes sizes, bool channels_last = false);
  // Uniform in [low, high); with `wild`, a NaN or an infinity now and then.
  Array* random(ScalarType type, Sizes sizes, double low, double high, bool wild = false,
                bool channels_last = false);
  Array* floats(Sizes sizes, double low = -2.0, double high = 2.0) {
    return random(kFloat, std::move(sizes), low, high);
  }

  EValue value(Array* array) { return EValue(Tensor(array->impl())); }
  EValue int_list(std::vector<int64_t> values);

  // Runs both kernels on `inputs`; outputs of each stand behind. Compares with
  // |a - b| <= tolerance * (1 + |b|).
  void compare(const char* name, std::vector<EValue> inputs,
               const std::vector<std::pair<ScalarType, Sizes>>& outputs, double tolerance,
               bool channels_last = false);

  std::mt19937 random_{12345};

 private:
  struct IntList {
    std::vector<int64_t> values;
    std::vector<EValue> boxes;
    std::vector<EValue*> items;
    std::vector<int64_t> unboxed;
    BoxedIntList list;
  };
  std::vector<std::unique_ptr<Array>> arrays_;
  std::vector<std::unique_ptr<IntList>> lists_;
};

#define PETREL_SWEEP_ALL()                                                   \
  INSTANTIATE_TEST_SUITE_P(Machines, Sweep, ::testing::ValuesIn(machines()), \
                           [](const auto& info) { return name_of(info.param); })

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_SWEEP_H_
