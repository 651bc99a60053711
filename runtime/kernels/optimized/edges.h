// SPDX-License-Identifier: Apache-2.0
//
// Calls of a kernel by its name, of both sets of kernels. For tests.
//
//   TEST_P(Edges, ...) {
//     EXPECT_EQ(call("aten::mm.out", {tensor({2, 3}), tensor({3, 2}), tensor({2, 2})}), Error::Ok);
//   }
//   PETREL_FOR_BOTH_SETS(Edges);
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_EDGES_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_EDGES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/budget.h"
#include "runtime/core/log.h"
#include "runtime/executor/registry.h"
#include "runtime/kernel/kernel_runtime_context.h"
#include "runtime/kernels/optimized/kernels.h"
#include "runtime/kernels/portable/kernels.h"

namespace petrel::runtime {

inline constexpr KernelLibrary kReferenceLibraries[] = {&portable_kernels};
inline constexpr KernelLibrary kOptimizedLibraries[] = {&optimized_kernels, &portable_kernels};
inline constexpr Registry kReference(kReferenceLibraries, {});
inline constexpr Registry kOptimized(kOptimizedLibraries, {});
inline constexpr int32_t kHuge = INT32_MAX;

// A tensor over its own memory, which holds zeros. Its elements may be no more than a
// program could have; its sizes may be any.
class Held {
 public:
  Held(std::vector<int32_t> sizes, ScalarType type, bool turned)
      : sizes_(std::move(sizes)), order_(sizes_.size()), strides_(sizes_.size()) {
    std::iota(order_.begin(), order_.end(), uint8_t{0});
    if (turned) std::reverse(order_.begin(), order_.end());
    impl_ = TensorImpl(type, static_cast<ssize_t>(sizes_.size()), sizes_.data(), nullptr,
                       order_.data(), strides_.data());
    // What is behind the last element, AddressSanitizer knows.
    memory_ = std::make_unique<uint8_t[]>(impl_.nbytes());
    EXPECT_EQ(impl_.set_data(memory_.get(), impl_.nbytes()), Error::Ok);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  template <typename T>
  Held& set(const std::vector<T>& elements) {
    EXPECT_EQ(elements.size() * sizeof(T), impl_.nbytes());
    if (!elements.empty()) std::memcpy(memory_.get(), elements.data(), impl_.nbytes());
    return *this;
  }
  template <typename T>
  std::vector<T> get() const {
    std::vector<T> elements(impl_.nbytes() / sizeof(T));
    if (!elements.empty()) std::memcpy(elements.data(), memory_.get(), impl_.nbytes());
    return elements;
  }
  Held& fill(float value) { return set(std::vector<float>(impl_.numel(), value)); }
  operator EValue() { return EValue(Tensor(&impl_)); }  // NOLINT: an argument

 private:
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> order_;
  std::vector<int64_t> strides_;
  std::unique_ptr<uint8_t[]> memory_;
  TensorImpl impl_;
};

class Edges : public ::testing::TestWithParam<const Registry*> {
 protected:
  Edges() { hook_ = set_log_hook(LogHook{}); }
  ~Edges() override { set_log_hook(hook_); }

  Held& tensor(std::vector<int32_t> sizes, ScalarType type = ScalarType::Float) {
    return tensors_.emplace_back(std::move(sizes), type, false);
  }
  Held& turned(std::vector<int32_t> sizes, ScalarType type = ScalarType::Float) {
    return tensors_.emplace_back(std::move(sizes), type, true);
  }
  EValue ints(const std::vector<int64_t>& numbers) {
    IntList& held = int_lists_.emplace_back();
    held.entries.assign(numbers.begin(), numbers.end());
    held.unboxed.resize(numbers.size());
    for (EValue& entry : held.entries) held.items.push_back(&entry);
    held.list = {Span<EValue*>(held.items.data(), held.items.size()), held.unboxed.data()};
    return EValue(&held.list);
  }
  EValue list(std::vector<EValue> tensors) {
    TensorList& held = tensor_lists_.emplace_back();
    held.entries = std::move(tensors);
    held.unboxed.assign(held.entries.size(), Tensor(nullptr));
    for (EValue& entry : held.entries) held.items.push_back(&entry);
    held.list = {Span<EValue*>(held.items.data(), held.items.size()), held.unboxed.data()};
    return EValue(&held.list);
  }
  // Absent where an entry is None.
  EValue optional_list(std::vector<EValue> tensors) {
    OptionalTensorList& held = optional_lists_.emplace_back();
    held.entries = std::move(tensors);
    held.unboxed.resize(held.entries.size());
    for (EValue& entry : held.entries) held.items.push_back(&entry);
    held.list = {Span<EValue*>(held.items.data(), held.items.size()), held.unboxed.data()};
    return EValue(&held.list);
  }
  static EValue type(ScalarType type) { return EValue(static_cast<int64_t>(type)); }

  Error call(const char* name, std::vector<EValue> values, uint64_t most_work = UINT64_MAX) {
    std::vector<EValue*> args;
    for (EValue& value : values) args.push_back(&value);
    Budget work("work", most_work);
    KernelRuntimeContext context(nullptr, nullptr, name, {}, &work);
    const Kernel* kernel = GetParam()->find_kernel(name);
    if (kernel == nullptr) return Error::OperatorMissing;
    kernel->fn(context, Span<EValue*>(args.data(), args.size()));
    return context.failure_state();
  }
  void refuses(const char* name, std::vector<EValue> values) {
    const Error error = call(name, std::move(values));
    EXPECT_TRUE(error == Error::InvalidArgument || error == Error::NotSupported)
        << name << ": " << static_cast<int>(error);
  }

 private:
  struct IntList {
    std::vector<EValue> entries;
    std::vector<EValue*> items;
    std::vector<int64_t> unboxed;
    BoxedIntList list;
  };
  struct TensorList {
    std::vector<EValue> entries;
    std::vector<EValue*> items;
    std::vector<Tensor> unboxed;
    BoxedTensorList list;
  };
  struct OptionalTensorList {
    std::vector<EValue> entries;
    std::vector<EValue*> items;
    std::vector<std::optional<Tensor>> unboxed;
    BoxedOptionalTensorList list;
  };
  std::deque<Held> tensors_;
  std::deque<IntList> int_lists_;
  std::deque<TensorList> tensor_lists_;
  std::deque<OptionalTensorList> optional_lists_;
  LogHook hook_;
};

#define PETREL_FOR_BOTH_SETS(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(Kernels, suite, ::testing::Values(&kReference, &kOptimized),    \
                           [](const ::testing::TestParamInfo<const Registry*>& info) {     \
                             return info.param == &kReference ? "reference" : "optimized"; \
                           })

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_EDGES_H_
