// SPDX-License-Identifier: Apache-2.0
//
// What tests of the delegate need: named data that counts, tensors that own
// their sizes, memory that ends at a page nobody may touch.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_TEST_SUPPORT_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_TEST_SUPPORT_H_

#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/delegate.h"
#include "runtime/backend/interface.h"

namespace petrel::backends::xnnpack {

// Floats by key. Not thread-safe in its counters.
class TestMap final : public runtime::NamedDataMap {
 public:
  std::map<std::string, std::vector<float>> data;
  mutable int taken = 0;
  mutable int freed = 0;

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = data.find(std::string(key));
    if (found == data.end()) return runtime::Error::NotFound;
    ++taken;
    return runtime::FreeableBuffer(
        found->second.data(), found->second.size() * sizeof(float),
        [](void* context, void*, size_t) { ++static_cast<const TestMap*>(context)->freed; },
        const_cast<TestMap*>(this));
  }
  runtime::Result<uint32_t> get_num_keys() const override {
    return static_cast<uint32_t>(data.size());
  }
  runtime::Result<const char*> get_key(uint32_t index) const override {
    if (index >= data.size()) return runtime::Error::InvalidArgument;
    return std::next(data.begin(), index)->first.c_str();
  }
};

// Arguments of execute: f32 tensors, each over memory of its own or given.
class Arguments {
 public:
  // Returns the tensor's elements.
  float* add(std::vector<int32_t> sizes, float* data = nullptr) {
    sizes_.push_back(std::move(sizes));
    std::vector<int32_t>& s = sizes_.back();
    size_t count = 1;
    for (const int32_t size : s) count *= static_cast<size_t>(size);
    if (data == nullptr) {
      memory_.emplace_back(count);
      data = memory_.back().data();
    }
    orders_.emplace_back(s.size());
    for (size_t i = 0; i < s.size(); ++i) orders_.back()[i] = static_cast<uint8_t>(i);
    strides_.emplace_back(s.size());
    runtime::compute_strides({s.data(), s.size()}, {}, strides_.back().data());
    impls_.emplace_back(runtime::ScalarType::Float, static_cast<ssize_t>(s.size()), s.data(), data,
                        orders_.back().data(), strides_.back().data(),
                        runtime::TensorShapeDynamism::DYNAMIC_BOUND);
    values_.emplace_back(runtime::Tensor(&impls_.back()));
    return data;
  }

  // Makes the last tensor one of another type, over `data`.
  void retype(runtime::ScalarType type, void* data) {
    std::vector<int32_t>& s = sizes_.back();
    impls_.back() = runtime::TensorImpl(type, static_cast<ssize_t>(s.size()), s.data(), data,
                                        orders_.back().data(), strides_.back().data(),
                                        runtime::TensorShapeDynamism::DYNAMIC_BOUND);
  }

  runtime::TensorImpl& tensor(size_t i) { return impls_[i]; }
  runtime::EValue& value(size_t i) { return values_[i]; }
  std::vector<uint8_t>& order(size_t i) { return orders_[i]; }

  // `memory` pays for what the delegate must take, `work` for what it computes; null:
  // nothing limits it.
  runtime::Error run(Delegate& delegate, runtime::Budget* memory = nullptr,
                     runtime::Budget* work = nullptr) {
    std::vector<runtime::EValue*> args;
    for (runtime::EValue& value : values_) args.push_back(&value);
    const runtime::BackendExecutionContext context(nullptr, nullptr, "forward", nullptr, work,
                                                   memory);
    return delegate.execute(context, {args.data(), args.size()});
  }

 private:
  std::deque<std::vector<int32_t>> sizes_;
  std::deque<std::vector<uint8_t>> orders_;
  std::deque<std::vector<int64_t>> strides_;
  std::deque<std::vector<float>> memory_;
  std::deque<runtime::TensorImpl> impls_;
  std::deque<runtime::EValue> values_;
};

// `count` floats whose end is the end of a page; the next page faults.
class GuardedFloats {
 public:
  explicit GuardedFloats(size_t count) {
    const size_t bytes = count * sizeof(float);
    size_ = (bytes + kPage - 1) / kPage * kPage + kPage;
    pages_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* end = static_cast<uint8_t*>(pages_) + size_ - kPage;
    mprotect(end, kPage, PROT_NONE);
    data_ = reinterpret_cast<float*>(end - bytes);
  }
  ~GuardedFloats() { munmap(pages_, size_); }
  GuardedFloats(const GuardedFloats&) = delete;
  GuardedFloats& operator=(const GuardedFloats&) = delete;

  float* data() const { return data_; }

 private:
  static constexpr size_t kPage = 4096;
  void* pages_;
  size_t size_;
  float* data_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_TEST_SUPPORT_H_
