// SPDX-License-Identifier: Apache-2.0
//
// Indices are data: one outside its dim fails the call with a message that
// names it, and nothing is read or written there (run under AddressSanitizer).
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "runtime/kernels/portable/functions.h"

namespace petrel::runtime {
namespace {

// A contiguous tensor whose memory is exactly as large as it must be.
class Array {
 public:
  Array(ScalarType type, std::vector<int32_t> sizes)
      : sizes_(std::move(sizes)), order_(sizes_.size()), strides_(sizes_.size()) {
    for (size_t d = 0; d < sizes_.size(); ++d) order_[d] = static_cast<uint8_t>(d);
    compute_strides(Span<const int32_t>(sizes_), Span<const uint8_t>(order_), strides_.data());
    impl_ = std::make_unique<TensorImpl>(type, static_cast<ssize_t>(sizes_.size()), sizes_.data(),
                                         nullptr, order_.data(), strides_.data());
    memory_.reset(new uint8_t[impl_->nbytes()]());
    EXPECT_EQ(impl_->set_data(memory_.get(), impl_->nbytes()), Error::Ok);
  }
  static Array indices(std::vector<int64_t> values) {
    Array array(ScalarType::Long, {static_cast<int32_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) {
      reinterpret_cast<int64_t*>(array.memory_.get())[i] = values[i];
    }
    return array;
  }
  EValue value() { return EValue(Tensor(impl_.get())); }

 private:
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> order_;
  std::vector<int64_t> strides_;
  std::unique_ptr<TensorImpl> impl_;
  std::unique_ptr<uint8_t[]> memory_;
};

class IndexRange : public ::testing::Test {
 protected:
  void SetUp() override {
    previous_ = set_log_hook({[](void* context, LogLevel, const char* message) {
                                static_cast<IndexRange*>(context)->message_ = message;
                              },
                              this});
  }
  void TearDown() override { set_log_hook(previous_); }

  Error call(OpFunction function, std::vector<EValue> values) {
    message_.clear();
    std::vector<EValue*> args;
    for (EValue& v : values) args.push_back(&v);
    KernelRuntimeContext context;
    function(context, Span<EValue*>(args.data(), args.size()));
    return context.failure_state();
  }

  // Expects `function` to take indices in [-5, 5) or, without `negative`, in
  // [0, 5), and to refuse others.
  template <typename Arguments>
  void expect_range(OpFunction function, bool negative, Arguments arguments) {
    Array last = Array::indices({0, 4, negative ? -5 : 1});
    EXPECT_EQ(call(function, arguments(last)), Error::Ok) << message_;
    for (const int64_t wrong : {int64_t{5}, int64_t{negative ? -6 : -1}, INT64_MAX, INT64_MIN}) {
      Array index = Array::indices({0, wrong, 1});
      EXPECT_EQ(call(function, arguments(index)), Error::InvalidArgument) << wrong;
      EXPECT_NE(message_.find(std::to_string(wrong)), std::string::npos) << message_;
    }
  }

  // A list of one optional tensor.
  EValue list_of(Array& index) {
    item_ = index.value();
    items_[0] = &item_;
    list_ = BoxedOptionalTensorList{Span<EValue*>(items_), unboxed_};
    return EValue(&list_);
  }

 private:
  LogHook previous_;
  std::string message_;
  EValue item_;
  EValue* items_[1] = {nullptr};
  std::optional<Tensor> unboxed_[1];
  BoxedOptionalTensorList list_;
};

constexpr ScalarType kFloat = ScalarType::Float;

TEST_F(IndexRange, EmbeddingTakesTokensOfItsTable) {
  Array table(kFloat, {5, 3}), out(kFloat, {3, 3});
  expect_range(&portable::embedding_out, false, [&](Array& index) {
    return std::vector<EValue>{table.value(), index.value(), EValue(int64_t{-1}),
                               EValue(false), EValue(false), out.value()};
  });
}

TEST_F(IndexRange, IndexSelectTakesPlacesOfItsDim) {
  Array self(kFloat, {5, 3}), out(kFloat, {3, 3});
  expect_range(&portable::index_select_out, false, [&](Array& index) {
    return std::vector<EValue>{self.value(), EValue(int64_t{0}), index.value(), out.value()};
  });
}

TEST_F(IndexRange, GatherTakesPlacesOfItsDim) {
  Array self(kFloat, {5}), out(kFloat, {3});
  expect_range(&portable::gather_out, false, [&](Array& index) {
    return std::vector<EValue>{self.value(), EValue(int64_t{0}), index.value(), EValue(false),
                               out.value()};
  });
}

TEST_F(IndexRange, IndexTakesPlacesOfItsDim) {
  Array self(kFloat, {5, 3}), out(kFloat, {3, 3});
  expect_range(&portable::index_tensor_out, true, [&](Array& index) {
    return std::vector<EValue>{self.value(), list_of(index), out.value()};
  });
}

TEST_F(IndexRange, IndexPutTakesPlacesOfItsDim) {
  Array self(kFloat, {5, 3}), values(kFloat, {3, 3}), out(kFloat, {5, 3});
  expect_range(&portable::index_put_out, true, [&](Array& index) {
    return std::vector<EValue>{self.value(), list_of(index), values.value(), EValue(false),
                               out.value()};
  });
  expect_range(&portable::index_put_in_place, true, [&](Array& index) {
    return std::vector<EValue>{self.value(), list_of(index), values.value(), EValue(true)};
  });
}

TEST_F(IndexRange, IndexPutRefusesASmallerOutputOnItsInput) {
  Array self(kFloat, {5, 3}), values(kFloat, {1, 3});
  Array index = Array::indices({4});
  // An output of one element that begins where self does.
  int32_t sizes[] = {1};
  uint8_t order[] = {0};
  int64_t strides[] = {1};
  TensorImpl small(kFloat, 1, sizes, nullptr, order, strides);
  ASSERT_EQ(small.set_data(self.value().toTensor().mutable_data_ptr(), 4), Error::Ok);
  EXPECT_NE(call(&portable::index_put_out, {self.value(), list_of(index), values.value(),
                                            EValue(false), EValue(Tensor(&small))}),
            Error::Ok);
}

TEST_F(IndexRange, ScatterTakesPlacesOfItsDim) {
  Array self(kFloat, {5}), source(kFloat, {3}), out(kFloat, {5});
  for (const OpFunction function : {&portable::scatter_src_out, &portable::scatter_add_out}) {
    expect_range(function, false, [&](Array& index) {
      return std::vector<EValue>{self.value(), EValue(int64_t{0}), index.value(), source.value(),
                                 out.value()};
    });
  }
  expect_range(&portable::scatter_value_out, false, [&](Array& index) {
    return std::vector<EValue>{self.value(), EValue(int64_t{0}), index.value(), EValue(1.5),
                               out.value()};
  });
}

}  // namespace
}  // namespace petrel::runtime
