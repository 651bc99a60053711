// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose output lies over their indices. A method with such a call is not
// built, but the kernels keep to their tensors without that: an index counts as
// it is when it is used, or memory that is shared is refused.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "runtime/executor/registry.h"
#include "runtime/kernels/optimized/kernels.h"
#include "runtime/kernels/portable/kernels.h"

namespace petrel::runtime {
namespace {

constexpr KernelLibrary kReferenceLibraries[] = {&portable_kernels};
constexpr KernelLibrary kOptimizedLibraries[] = {&optimized_kernels, &portable_kernels};
constexpr Registry kReference(kReferenceLibraries, {});
constexpr Registry kOptimized(kOptimizedLibraries, {});

constexpr size_t kWords = 4096;
// What lies outside of all tensors.
constexpr int64_t kUntouched = -7777;

// A list of elements in memory that tensors share.
struct List {
  List(ScalarType type, void* data, int32_t size)
      : sizes{size}, impl(type, 1, sizes, data, order, strides) {}
  EValue value() { return EValue(Tensor(&impl)); }

  int32_t sizes[1];
  uint8_t order[1] = {0};
  int64_t strides[1] = {1};
  TensorImpl impl;
};

class Overlap : public ::testing::TestWithParam<const Registry*> {
 protected:
  Overlap() : memory_(kWords, kUntouched) { previous_ = set_log_hook({}); }
  ~Overlap() override { set_log_hook(previous_); }

  int64_t* word(size_t i) { return &memory_[i]; }

  Error call(const char* name, std::vector<EValue> values) {
    std::vector<EValue*> args;
    for (EValue& v : values) args.push_back(&v);
    KernelRuntimeContext context(nullptr, nullptr, name);
    GetParam()->find_kernel(name)->fn(context, Span<EValue*>(args.data(), args.size()));
    return context.failure_state();
  }

  // Words from `first` to `last` may have any value.
  void expect_untouched_outside(size_t first, size_t last) {
    for (size_t i = 0; i < kWords; ++i) {
      if (i >= first && i < last) continue;
      ASSERT_EQ(memory_[i], kUntouched) << "word " << i;
    }
  }

  std::vector<int64_t> memory_;
  LogHook previous_;
};

// self and source hold 1000, the index 0 to 7: what is copied to the output, or
// written there, is the next index.
//
//   words 100 to 107 out, 104 to 111 index, 200 self, 300 source
class ScatterOverlap : public Overlap {
 protected:
  ScatterOverlap()
      : out_(ScalarType::Long, word(100), 8),
        index_(ScalarType::Long, word(104), 8),
        self_(ScalarType::Long, word(200), 8),
        source_(ScalarType::Long, word(300), 8) {
    for (size_t i = 0; i < 8; ++i) {
      memory_[104 + i] = static_cast<int64_t>(i);
      memory_[200 + i] = memory_[300 + i] = 1000;
    }
  }
  void expect_refused(Error error) {
    EXPECT_EQ(error, Error::InvalidArgument);
    for (size_t i = 0; i < 8; ++i) memory_[200 + i] = memory_[300 + i] = kUntouched;
    expect_untouched_outside(100, 112);
  }

  List out_, index_, self_, source_;
};

TEST_P(ScatterOverlap, ScatterUsesTheIndicesItChecked) {
  expect_refused(call("aten::scatter.src_out", {self_.value(), EValue(int64_t{0}), index_.value(),
                                                source_.value(), out_.value()}));
}

TEST_P(ScatterOverlap, ScatterAddUsesTheIndicesItChecked) {
  expect_refused(call("aten::scatter_add.out", {self_.value(), EValue(int64_t{0}), index_.value(),
                                                source_.value(), out_.value()}));
}

TEST_P(ScatterOverlap, ScatterOfAValueUsesTheIndicesItChecked) {
  expect_refused(call("aten::scatter.value_out", {self_.value(), EValue(int64_t{0}), index_.value(),
                                                  EValue(int64_t{1000}), out_.value()}));
}

// The elements that are gathered first, 1000, replace indices further on; word
// 3000 is not an element of self.
TEST_P(Overlap, GatherUsesTheIndicesItChecked) {
  List self(ScalarType::Long, word(2000), 2), index(ScalarType::Long, word(100), 300);
  List out(ScalarType::Long, word(101), 300);
  for (size_t i = 100; i < 401; ++i) memory_[i] = 0;
  memory_[2000] = memory_[2001] = 1000;
  memory_[3000] = 5555;
  const Error error = call("aten::gather.out", {self.value(), EValue(int64_t{0}), index.value(),
                                                EValue(false), out.value()});
  for (size_t i = 101; i < 401; ++i) ASSERT_NE(memory_[i], 5555) << "word " << i;
  EXPECT_EQ(error, Error::InvalidArgument);
}

// As eager does; index and index_put count from the end there.
TEST_P(Overlap, NegativeIndicesAreRefused) {
  List self(ScalarType::Long, word(200), 2), index(ScalarType::Long, word(100), 2);
  List source(ScalarType::Long, word(400), 2), out(ScalarType::Long, word(300), 2);
  const EValue dim(int64_t{0});
  for (const int64_t second : {1, -1}) {
    memory_[100] = 0;
    memory_[101] = second;
    const Error expected = second < 0 ? Error::InvalidArgument : Error::Ok;
    const auto expect = [&](const char* name, std::vector<EValue> values) {
      EXPECT_EQ(call(name, std::move(values)), expected) << name << " of " << second;
    };
    expect("aten::gather.out", {self.value(), dim, index.value(), EValue(false), out.value()});
    expect("aten::index_select.out", {self.value(), dim, index.value(), out.value()});
    expect("aten::scatter.src_out",
           {self.value(), dim, index.value(), source.value(), out.value()});
    expect("aten::scatter_add.out",
           {self.value(), dim, index.value(), source.value(), out.value()});
    expect("aten::scatter.value_out",
           {self.value(), dim, index.value(), EValue(int64_t{3}), out.value()});
  }
}

// The values would become places of what is kept.
TEST_P(Overlap, TopkOfIntegersRefusesToKeepPlacesUnderItsValues) {
  List self(ScalarType::Long, word(200), 16);
  List values(ScalarType::Long, word(101), 8), indices(ScalarType::Long, word(100), 8);
  for (size_t i = 0; i < 16; ++i) memory_[200 + i] = 3000 + static_cast<int64_t>(i);
  EXPECT_EQ(
      call("aten::topk.values", {self.value(), EValue(int64_t{8}), EValue(int64_t{0}), EValue(true),
                                 EValue(true), values.value(), indices.value()}),
      Error::InvalidArgument);
}

// The order of the elements would change while places are put in order.
TEST_P(Overlap, TopkOfFloatsRefusesToKeepPlacesInItsInput) {
  List self(ScalarType::Float, word(200), 2000);
  List values(ScalarType::Float, word(3000), 1000), indices(ScalarType::Long, word(200), 1000);
  EXPECT_EQ(
      call("aten::topk.values", {self.value(), EValue(int64_t{1000}), EValue(int64_t{0}),
                                 EValue(true), EValue(true), values.value(), indices.value()}),
      Error::InvalidArgument);
  expect_untouched_outside(200, 1200);
}

// The first row of the result would be what the others are computed from.
TEST_P(Overlap, ResultsOverAnOperandThatBroadcastsAreRefused) {
  for (const ScalarType type : {ScalarType::Long, ScalarType::Double}) {
    List one(type, word(100), 1), out(type, word(100), 4), other(type, word(200), 4);
    List same(type, word(200), 4);
    const EValue alpha(int64_t{1});
    EXPECT_EQ(call("aten::add.out", {one.value(), other.value(), alpha, out.value()}),
              Error::InvalidArgument);
    EXPECT_EQ(call("aten::mul.out", {other.value(), one.value(), out.value()}),
              Error::InvalidArgument);
    EXPECT_EQ(call("aten::clamp.Tensor_out", {other.value(), one.value(), EValue(), out.value()}),
              Error::InvalidArgument);
    EXPECT_EQ(call("aten::copy_", {out.value(), one.value(), EValue(false)}),
              Error::InvalidArgument);
    EXPECT_EQ(call("aten::add.out", {one.value(), other.value(), alpha, same.value()}), Error::Ok);
  }
}

std::string name_of(const ::testing::TestParamInfo<const Registry*>& info) {
  return info.param == &kReference ? "reference" : "optimized";
}

INSTANTIATE_TEST_SUITE_P(Kernels, Overlap, ::testing::Values(&kReference, &kOptimized), name_of);
INSTANTIATE_TEST_SUITE_P(Kernels, ScatterOverlap, ::testing::Values(&kReference, &kOptimized),
                         name_of);

}  // namespace
}  // namespace petrel::runtime
