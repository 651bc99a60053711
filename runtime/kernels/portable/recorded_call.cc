// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/recorded_call.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <variant>

#include "gtest/gtest.h"
#include "runtime/core/budget.h"
#include "runtime/kernels/portable/element.h"

namespace petrel::runtime {

using portable::loader;
using portable::storer;
using test::CallArgument;
using test::EagerCase;
using test::EagerTensor;

template <typename Fn>
void RecordedCall::for_each(const Holder& holder, Fn fn) {
  const size_t rank = holder.sizes.size();
  std::vector<int32_t> index(rank, 0);
  for (size_t i = 0; i < holder.source->elements.size(); ++i) {
    size_t at = 0;
    for (size_t d = 0; d < rank; ++d) {
      at += static_cast<size_t>(index[d] * holder.strides[d]);
    }
    fn(i, at);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < holder.sizes[d]) break;
      index[d] = 0;
    }
  }
}

RecordedCall::RecordedCall(const EagerCase& one, int32_t spare) {
  for (const std::vector<EagerTensor>* list : {&one.inputs, &one.constants}) {
    for (const EagerTensor& source : *list) {
      Holder& holder = hold(source, 0);
      const auto store = storer<double>(holder.impl->scalar_type());
      if (store == nullptr) continue;  // there are no numbers of the type
      for_each(holder,
               [&](size_t i, size_t at) { store(holder.memory.get(), at, source.elements[i]); });
    }
  }
  for (const EagerTensor& source : one.expected) {
    if (!test::is_after(source)) {
      outputs_.push_back({&hold(source, spare), &source});
      continue;
    }
    const std::string name = source.name.substr(0, source.name.size() - test::kAfter.size());
    const auto changed = holders_.find(name);
    if (changed != holders_.end()) outputs_.push_back({&changed->second, &source});
  }
  for (const CallArgument& argument : one.call->arguments) args_.push_back(value_of(argument));
  for (const CallArgument& output : one.call->outputs) args_.push_back(value_of(output));
}

void RecordedCall::run(const Kernel& kernel, double slack) {
  ASSERT_EQ(call(kernel), Error::Ok);
  ASSERT_FALSE(outputs_.empty());
  for (const auto& [holder, expected] : outputs_) compare(*holder, *expected, slack);
}

Error RecordedCall::call(const Kernel& kernel) {
  std::vector<EValue*> args;
  for (EValue& value : args_) args.push_back(&value);
  Budget work("work", 10'000'000);
  KernelRuntimeContext context(nullptr, nullptr, kernel.name, {}, &work);
  kernel.fn(context, Span<EValue*>(args.data(), args.size()));
  return context.failure_state();
}

RecordedCall::Holder& RecordedCall::hold(const EagerTensor& source, int32_t spare) {
  Holder& holder = holders_[source.name];
  holder.source = &source;
  holder.sizes.assign(source.sizes.begin(), source.sizes.end());
  holder.order = source.dim_order;
  holder.strides.resize(holder.sizes.size());
  const std::vector<int32_t> sizes = holder.sizes;
  if (spare > 0 && !sizes.empty()) {
    for (int32_t& size : holder.sizes) size = std::max(size, 1);
    holder.sizes[0] += spare;
  }
  compute_strides(Span<const int32_t>(holder.sizes), Span<const uint8_t>(holder.order),
                  holder.strides.data());
  holder.impl.emplace(static_cast<ScalarType>(source.scalar_type),
                      static_cast<ssize_t>(holder.sizes.size()), holder.sizes.data(), nullptr,
                      holder.order.data(), holder.strides.data(),
                      TensorShapeDynamism::DYNAMIC_BOUND);
  holder.memory = std::make_unique<uint8_t[]>(holder.impl->nbytes());
  EXPECT_EQ(holder.impl->set_data(holder.memory.get(), holder.impl->nbytes()), Error::Ok);
  EXPECT_EQ(holder.impl->resize(Span<const int32_t>(sizes)), Error::Ok);
  return holder;
}

EValue RecordedCall::tensor(const std::string& name) {
  return EValue(Tensor(&*holders_.at(name).impl));
}

EValue RecordedCall::value_of(const CallArgument& argument) {
  return std::visit(
      [this](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return EValue();
        } else if constexpr (std::is_same_v<T, std::string>) {
          return EValue(std::string_view(value));
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          return EValue(Span<const double>(value.data(), value.size()));
        } else if constexpr (std::is_same_v<T, test::TensorName>) {
          return tensor(value.name);
        } else if constexpr (std::is_arithmetic_v<T>) {
          return EValue(value);
        } else {
          return list_of(value);
        }
      },
      argument);
}

EValue RecordedCall::list_of(const std::vector<int64_t>& values) {
  List& list = lists_.emplace_back();
  for (const int64_t value : values) list.items.push_back(&list.values.emplace_back(value));
  list.ints.resize(values.size() + 1);
  list.int_box =
      BoxedIntList{Span<EValue*>(list.items.data(), list.items.size()), list.ints.data()};
  return EValue(&*list.int_box);
}

EValue RecordedCall::list_of(const test::TensorNames& names) {
  List& list = lists_.emplace_back();
  for (const std::string& name : names.names) {
    list.items.push_back(name.empty() ? nullptr : &list.values.emplace_back(tensor(name)));
  }
  const Span<EValue*> items(list.items.data(), list.items.size());
  if (names.may_miss) {
    list.optionals.resize(items.size());
    list.optional_box = BoxedOptionalTensorList{items, list.optionals.data()};
    return EValue(&*list.optional_box);
  }
  list.tensors.resize(items.size(), Tensor(&placeholder_));
  list.tensor_box = BoxedTensorList{items, list.tensors.data()};
  return EValue(&*list.tensor_box);
}

void RecordedCall::compare(const Holder& holder, const EagerTensor& source, double slack) {
  const ScalarType type = holder.impl->scalar_type();
  const auto load = loader<double>(type);
  // A few units of the last place of the type; eager sums in another order.
  const double unit = slack * (type == ScalarType::Double     ? 1e-15
                               : type == ScalarType::Float    ? 4e-6
                               : type == ScalarType::Half     ? 1e-3
                               : type == ScalarType::BFloat16 ? 8e-3
                                                              : 0.0);
  for_each(holder, [&](size_t i, size_t at) {
    const double expected = source.elements[i];
    const double got = load(holder.memory.get(), at);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << "element " << i << " is " << got;
    } else if (std::isinf(expected)) {
      EXPECT_EQ(got, expected) << "element " << i;
    } else {
      EXPECT_NEAR(got, expected, unit * (std::fabs(expected) + 0.5)) << "element " << i;
    }
  });
}

}  // namespace petrel::runtime
