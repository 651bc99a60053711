// SPDX-License-Identifier: Apache-2.0
#include "backends/null/runtime/null_backend.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/budget.h"
#include "runtime/core/tensor.h"

namespace petrel::backends::null {
namespace {

using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorImpl;

// One key, "w", of three floats.
class OneBlob final : public runtime::NamedDataMap {
 public:
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key != "w") return Error::NotFound;
    if (when_asked) when_asked();
    ++live_;
    return FreeableBuffer(data_, sizeof(data_), &freed, const_cast<OneBlob*>(this));
  }
  Result<uint32_t> get_num_keys() const override { return uint32_t{1}; }
  Result<const char*> get_key(uint32_t) const override { return "w"; }
  int live() const { return live_; }

  std::function<void()> when_asked;

 private:
  static void freed(void* self, void*, size_t) { --static_cast<OneBlob*>(self)->live_; }
  alignas(16) float data_[3] = {10, 20, 30};
  mutable int live_ = 0;
};

class NullBackendTest : public ::testing::Test {
 protected:
  Result<runtime::DelegateHandle*> init(const std::string& payload) {
    FreeableBuffer processed(payload.data(), payload.size(), nullptr);
    runtime::BackendInitContext context(&memory_, nullptr, "forward", &blobs_, {},
                                        &delegate_bytes_);
    return backend_.init(context, &processed, {});
  }

  static EValue value(TensorImpl& tensor) { return EValue(Tensor(&tensor)); }

  Error execute(runtime::DelegateHandle* handle, std::vector<EValue> args) {
    std::vector<EValue*> pointers;
    for (EValue& arg : args) pointers.push_back(&arg);
    runtime::BackendExecutionContext context(nullptr, nullptr, "forward", nullptr, &work_);
    return backend_.execute(context, handle, Span<EValue*>(pointers.data(), pointers.size()));
  }

  NullBackend backend_;
  OneBlob blobs_;
  runtime::Budget delegate_bytes_{"max_delegate_bytes", 4000};
  runtime::Budget work_{"max_element_operations", 20};
  alignas(16) uint8_t bytes_[4096];
  runtime::MemoryAllocator memory_{sizeof(bytes_), bytes_};
};

constexpr char kPayload[] = "null 1\ninput 3\nblob 3 w\nadd 0 1\nmul 2 0\noutput 3\noutput 2\n";

TEST_F(NullBackendTest, ComputesAndGivesItsDataBack) {
  auto handle = init(kPayload);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(blobs_.live(), 1);
  int32_t sizes[] = {3};
  float x[] = {1, 2, 3}, y[3], z[3];
  TensorImpl in(runtime::ScalarType::Float, 1, sizes, x);
  TensorImpl first(runtime::ScalarType::Float, 1, sizes, y);
  TensorImpl second(runtime::ScalarType::Float, 1, sizes, z);
  ASSERT_EQ(execute(*handle, {value(in), value(first), value(second)}), Error::Ok);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(z[i], x[i] + 10.0f * static_cast<float>(i + 1));
    EXPECT_EQ(y[i], z[i] * x[i]);
  }
  backend_.destroy(*handle);
  EXPECT_EQ(blobs_.live(), 0);
}

TEST_F(NullBackendTest, RefusesArgumentsThatDoNotFit) {
  auto handle = init(kPayload);
  ASSERT_TRUE(handle.ok());
  int32_t sizes[] = {3}, fewer[] = {2};
  float x[] = {1, 2, 3}, y[3];
  int64_t n[3] = {};
  TensorImpl good(runtime::ScalarType::Float, 1, sizes, x);
  TensorImpl out(runtime::ScalarType::Float, 1, sizes, y);
  TensorImpl small(runtime::ScalarType::Float, 1, fewer, x);
  TensorImpl ints(runtime::ScalarType::Long, 1, sizes, n);
  TensorImpl unbound(runtime::ScalarType::Float, 1, sizes);
  TensorImpl constant(runtime::ScalarType::Float, 1, sizes, y);
  constant.set_constant(true);
  const EValue ok = value(out);
  EXPECT_EQ(execute(*handle, {value(good), ok}), Error::InvalidArgument);
  EXPECT_EQ(execute(*handle, {value(small), ok, ok}), Error::InvalidArgument);
  EXPECT_EQ(execute(*handle, {value(ints), ok, ok}), Error::InvalidArgument);
  EXPECT_EQ(execute(*handle, {value(unbound), ok, ok}), Error::InvalidArgument);
  EXPECT_EQ(execute(*handle, {value(good), ok, value(constant)}), Error::InvalidArgument);
  EXPECT_EQ(execute(*handle, {EValue(int64_t{1}), ok, ok}), Error::InvalidType);
  backend_.destroy(*handle);
}

TEST_F(NullBackendTest, RefusesPayloadsThatAreDamagedOrNotItsOwn) {
  EXPECT_EQ(init("").error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(init("null 2\n").error(), Error::DelegateInvalidCompatibility);
  for (const char* lines :
       {"input\n", "input x\n", "input 3 4\n", "input -1\n", "input 99999999999999999999\n",
        "blob 3\n", "blob 4 w\n", "blob 4611686018427387905 w\n", "add 0 0\n", "input 3\nadd 0 1\n",
        "input 3\nadd 0\n", "input 3\ninput 2\nadd 0 1\n", "output 0\n", "input 3\noutput 1\n",
        "jump 1\n", "input 3\n\noutput 0\n"}) {
    EXPECT_EQ(init(std::string("null 1\n") + lines).error(), Error::InvalidProgram) << lines;
    EXPECT_EQ(blobs_.live(), 0) << lines;
    memory_.reset();
    delegate_bytes_.refill();
  }
  EXPECT_EQ(init("null 1\nblob 3 v\n").error(), Error::NotFound);
  EXPECT_EQ(init("null 1\nblob 3 w w\n").error(), Error::NotFound);
}

// A line of ten bytes asks for any number of elements, and a line of eight for a value.
TEST_F(NullBackendTest, TakesNoMoreMemoryAndTimeThanIsAllowed) {
  EXPECT_EQ(init("null 1\ninput 1000000\nadd 0 0\n").error(), Error::OutOfResources);
  EXPECT_EQ(init("null 1\ninput 4611686018427387904\nadd 0 0\n").error(), Error::OutOfResources);
  std::string inputs = "null 1\n";
  for (int i = 0; i < 100; ++i) inputs += "input 1\n";
  delegate_bytes_.refill();
  EXPECT_EQ(init(inputs).error(), Error::OutOfResources);
  delegate_bytes_.refill();
  const auto handle = init("null 1\ninput 8\nadd 0 0\nadd 1 1\nadd 2 2\noutput 3\n");
  ASSERT_TRUE(handle.ok());
  int32_t sizes[] = {8};
  float x[8] = {}, y[8];
  TensorImpl in(runtime::ScalarType::Float, 1, sizes, x);
  TensorImpl out(runtime::ScalarType::Float, 1, sizes, y);
  EXPECT_EQ(execute(*handle, {value(in), value(out)}), Error::OutOfResources);
  backend_.destroy(*handle);
}

// As a file may, that is mapped.
TEST_F(NullBackendTest, ReadsAPayloadThatChangesAsItWas) {
  std::string payload = "null 1\nblob 3 w\noutput 0\n";
  // Where the output was is another value, for which there is no room.
  blobs_.when_asked = [&] { payload.replace(16, 9, "input 33\n"); };
  const auto handle = init(payload);
  ASSERT_TRUE(handle.ok());
  int32_t sizes[] = {3};
  float y[3] = {};
  TensorImpl out(runtime::ScalarType::Float, 1, sizes, y);
  EXPECT_EQ(execute(*handle, {value(out)}), Error::Ok);
  EXPECT_EQ(y[2], 30.0f);
  backend_.destroy(*handle);
}

TEST_F(NullBackendTest, EveryByteChangedIsAnErrorOrAPart) {
  const std::string payload = kPayload;
  for (size_t i = 0; i < payload.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = payload;
      damaged[i] = static_cast<char>(byte);
      memory_.reset();
      delegate_bytes_.refill();
      auto handle = init(damaged);
      if (handle.ok()) backend_.destroy(*handle);
      ASSERT_EQ(blobs_.live(), 0);
    }
  }
}

}  // namespace
}  // namespace petrel::backends::null
