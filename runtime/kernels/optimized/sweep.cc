// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/sweep.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/kernels/optimized/instruction_sets.h"  // before Highway
#include "hwy/targets.h"
#include "runtime/kernels/optimized/kernels.h"
#include "runtime/kernels/portable/element.h"
#include "runtime/kernels/portable/kernels.h"
#include "runtime/threads/thread_count.h"

namespace petrel::runtime {
namespace {

const Kernel* find(Span<const Kernel> library, const std::string& name) {
  for (const Kernel& kernel : library) {
    if (name == kernel.name) return &kernel;
  }
  return nullptr;
}

}  // namespace

Array::Array(ScalarType type, Sizes sizes, bool channels_last)
    : sizes_(std::move(sizes)), order_(sizes_.size()), strides_(sizes_.size()) {
  for (size_t d = 0; d < sizes_.size(); ++d) order_[d] = static_cast<uint8_t>(d);
  if (channels_last) order_ = {0, 2, 3, 1};
  compute_strides(Span<const int32_t>(sizes_), Span<const uint8_t>(order_), strides_.data());
  impl_ = std::make_unique<TensorImpl>(type, static_cast<ssize_t>(sizes_.size()), sizes_.data(),
                                       nullptr, order_.data(), strides_.data());
  // Not aligned to more than the element: kernels must not count on it.
  memory_.assign(impl_->nbytes() + 2 * kMargin + 8, 0xa5);
  EXPECT_EQ(impl_->set_data(data(), impl_->nbytes()), Error::Ok);
}

double Array::at(size_t i) { return portable::loader<double>(type())(data(), i); }
void Array::set(size_t i, double v) { portable::storer<double>(type())(data(), i, v); }

void Array::fill(uint8_t byte) { std::memset(data(), byte, impl_->nbytes()); }

bool Array::has_bytes_of(const Array& other) const {
  const size_t nbytes = impl_->nbytes();
  return other.impl_->nbytes() == nbytes &&
         std::memcmp(&memory_[kMargin], &other.memory_[kMargin], nbytes) == 0;
}

bool Array::margins_are_untouched() const {
  for (size_t i = 0; i < kMargin; ++i) {
    if (memory_[i] != 0xa5 || memory_[kMargin + impl_->nbytes() + i] != 0xa5) return false;
  }
  return true;
}

std::vector<Machine> machines() {
  std::vector<Machine> list = {{optimized::supported_targets(), 3}};
  for (int64_t left = list[0].target; left != 0; left &= left - 1) {
    list.push_back({left & -left, 1});
  }
  return list;
}

std::string name_of(const Machine& machine) {
  return machine.threads > 1 ? "threads" : hwy::TargetName(machine.target);
}

void Sweep::SetUp() {
  ASSERT_EQ(set_thread_count(GetParam().threads), Error::Ok);
  optimized::choose_among(GetParam().target);
}
void Sweep::TearDown() {
  optimized::choose_among(0);
  ASSERT_EQ(set_thread_count(0), Error::Ok);
}

Array* Sweep::make(ScalarType type, Sizes sizes, bool channels_last) {
  arrays_.push_back(std::make_unique<Array>(type, std::move(sizes), channels_last));
  return arrays_.back().get();
}

Array* Sweep::random(ScalarType type, Sizes sizes, double low, double high, bool wild,
                     bool channels_last) {
  Array* array = make(type, std::move(sizes), channels_last);
  std::uniform_real_distribution<double> value(low, high);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double specials[] = {kInf, -kInf, std::nan(""), 0.0, -0.0, 1e-40, -1e-40};
  for (size_t i = 0; i < array->numel(); ++i) {
    array->set(i, wild && random_() % 16 == 0 ? specials[random_() % 7] : value(random_));
  }
  return array;
}
void Sweep::compare(const char* name, std::vector<EValue> inputs,
                    const std::vector<std::pair<ScalarType, Sizes>>& outputs, double tolerance,
                    bool channels_last) {
  SCOPED_TRACE(name);
  // The third is the second in memory that held other bytes.
  std::vector<Array*> results[3];
  for (int k = 0; k < 3; ++k) {
    const Kernel* kernel = find(k == 0 ? portable_kernels() : optimized_kernels(), name);
    ASSERT_NE(kernel, nullptr);
    std::vector<EValue> values = inputs;
    for (const auto& [type, sizes] : outputs) {
      results[k].push_back(make(type, sizes, channels_last));
      results[k].back()->fill(k == 2 ? 0x5a : 0xff);
      values.push_back(value(results[k].back()));
    }
    std::vector<EValue*> args;
    for (EValue& v : values) args.push_back(&v);
    KernelRuntimeContext context(nullptr, nullptr, name);
    kernel->fn(context, Span<EValue*>(args.data(), args.size()));
    ASSERT_EQ(context.failure_state(), Error::Ok);
  }
  for (size_t r = 0; r < outputs.size(); ++r) {
    EXPECT_TRUE(results[1][r]->margins_are_untouched());
    EXPECT_TRUE(results[1][r]->has_bytes_of(*results[2][r]))
        << "output " << r << " depends on what its memory held";
    int shown = 0;
    for (size_t i = 0; i < results[0][r]->numel() && shown < 3; ++i) {
      const double want = results[0][r]->at(i), got = results[1][r]->at(i);
      const bool same = std::isnan(want) ? std::isnan(got)
                        : std::isinf(want)
                            ? got == want
                            : std::fabs(got - want) <= tolerance * (1.0 + std::fabs(want));
      if (same) continue;
      ++shown;
      ADD_FAILURE() << "output " << r << " element " << i << " of " << results[0][r]->numel()
                    << ": " << got << ", must be " << want;
    }
  }
}

EValue Sweep::int_list(std::vector<int64_t> values) {
  auto list = std::make_unique<IntList>();
  list->values = std::move(values);
  for (int64_t v : list->values) list->boxes.push_back(EValue(v));
  for (EValue& v : list->boxes) list->items.push_back(&v);
  list->unboxed.resize(list->values.size() + 1);
  list->list =
      BoxedIntList{Span<EValue*>(list->items.data(), list->items.size()), list->unboxed.data()};
  lists_.push_back(std::move(list));
  return EValue(&lists_.back()->list);
}

}  // namespace petrel::runtime
