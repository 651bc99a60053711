// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/recorded_cases.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "gtest/gtest.h"
#include "runtime/kernels/portable/element.h"

namespace petrel::runtime {
namespace {

using portable::loader;
using portable::storer;

ScalarType type_of(const std::string& word) {
  const std::pair<const char*, ScalarType> kTypes[] = {
      {"f32", ScalarType::Float},    {"f64", ScalarType::Double}, {"i64", ScalarType::Long},
      {"i32", ScalarType::Int},      {"i16", ScalarType::Short},  {"i8", ScalarType::Char},
      {"u8", ScalarType::Byte},      {"bool", ScalarType::Bool},  {"f16", ScalarType::Half},
      {"bf16", ScalarType::BFloat16}};
  for (const auto& [name, type] : kTypes) {
    if (word == name) return type;
  }
  ADD_FAILURE() << "unknown type " << word;
  return ScalarType::Byte;
}

}  // namespace

template <typename Fn>
void RecordedCase::for_each(const Holder& holder, Fn fn) {
  const size_t rank = holder.sizes.size();
  std::vector<int32_t> index(rank, 0);
  for (size_t i = 0; i < holder.elements.size(); ++i) {
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

void RecordedCase::add_line(const std::string& line) {
  std::istringstream in(line);
  std::string kind;
  in >> kind;
  if (kind == "tensors" || kind == "optionals" || kind == "outs") {
    in >> list_left_;
    list_kind_ = kind;
    list_.clear();
    return;
  }
  EValue value = parse(kind, in);
  if (list_left_ == 0) {
    args_.push_back(value);
    return;
  }
  list_.push_back(value);
  if (--list_left_ == 0) args_.push_back(finish_list());
}

void RecordedCase::run(const Kernel& kernel) {
  std::vector<EValue*> args;
  for (EValue& value : args_) args.push_back(&value);
  KernelRuntimeContext context(nullptr, nullptr, kernel.name);
  kernel.fn(context, Span<EValue*>(args.data(), args.size()));
  ASSERT_EQ(context.failure_state(), Error::Ok);
  ASSERT_FALSE(outputs_.empty());
  for (Holder* output : outputs_) compare(*output);
}

EValue RecordedCase::parse(const std::string& kind, std::istringstream& in) {
  if (kind == "none") return EValue();
  if (kind == "tensor" || kind == "out") return parse_tensor(in, kind == "out");
  std::string word;
  if (kind == "string") {
    in >> word;
    strings_.push_back(std::make_unique<std::string>(word));
    return EValue(std::string_view(*strings_.back()));
  }
  std::vector<double> reals;
  std::vector<int64_t> whole;
  while (in >> word) {
    reals.push_back(std::strtod(word.c_str(), nullptr));
    whole.push_back(std::strtoll(word.c_str(), nullptr, 10));
  }
  if (kind == "int") return EValue(whole[0]);
  if (kind == "bool") return EValue(whole[0] != 0);
  if (kind == "double") return EValue(reals[0]);
  if (kind == "doubles") {
    doubles_.push_back(std::make_unique<std::vector<double>>(reals));
    return EValue(Span<const double>(doubles_.back()->data(), reals.size()));
  }
  EXPECT_EQ(kind, "ints");
  list_.clear();
  for (const int64_t v : whole) list_.push_back(EValue(v));
  list_kind_ = "ints";
  return finish_list();
}

EValue RecordedCase::parse_tensor(std::istringstream& in, bool is_out) {
  holders_.push_back(std::make_unique<Holder>());
  Holder& holder = *holders_.back();
  std::string type, sizes, order, word;
  in >> type >> sizes >> order;
  if (sizes != "-") {
    std::istringstream list(sizes);
    while (std::getline(list, word, ',')) holder.sizes.push_back(std::stoi(word));
  }
  for (size_t d = 0; d < holder.sizes.size(); ++d) {
    holder.order.push_back(static_cast<uint8_t>(d));
  }
  if (order == "nhwc") holder.order = {0, 2, 3, 1};
  holder.strides.resize(holder.sizes.size());
  compute_strides(Span<const int32_t>(holder.sizes), Span<const uint8_t>(holder.order),
                  holder.strides.data());
  while (in >> word) holder.elements.push_back(std::strtod(word.c_str(), nullptr));
  holder.memory.resize(holder.elements.size() + 1);
  holder.impl = std::make_unique<TensorImpl>(
      type_of(type), static_cast<ssize_t>(holder.sizes.size()), holder.sizes.data(), nullptr,
      holder.order.data(), holder.strides.data(), TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(holder.impl->set_data(holder.memory.data(), holder.memory.size() * 8), Error::Ok);
  EXPECT_EQ(holder.impl->numel(), holder.elements.size());
  if (is_out) {
    outputs_.push_back(&holder);
  } else {
    const auto store = storer<double>(holder.impl->scalar_type());
    for_each(holder,
             [&](size_t i, size_t at) { store(holder.memory.data(), at, holder.elements[i]); });
  }
  return EValue(Tensor(holder.impl.get()));
}

EValue RecordedCase::finish_list() {
  const size_t n = list_.size();
  auto& values = lists_.emplace_back(std::make_unique<std::vector<EValue>>(list_));
  auto& items = items_.emplace_back(std::make_unique<std::vector<EValue*>>());
  for (EValue& value : *values) items->push_back(value.isNone() ? nullptr : &value);
  const Span<EValue*> span(items->data(), n);
  if (list_kind_ == "ints") {
    auto& unboxed = ints_.emplace_back(std::make_unique<std::vector<int64_t>>(n + 1));
    int_boxes_.push_back(std::make_unique<BoxedIntList>(BoxedIntList{span, unboxed->data()}));
    return EValue(int_boxes_.back().get());
  }
  if (list_kind_ == "optionals") {
    auto& unboxed =
        optionals_.emplace_back(std::make_unique<std::vector<std::optional<Tensor>>>(n));
    optional_boxes_.push_back(
        std::make_unique<BoxedOptionalTensorList>(BoxedOptionalTensorList{span, unboxed->data()}));
    return EValue(optional_boxes_.back().get());
  }
  auto& unboxed =
      tensors_.emplace_back(std::make_unique<std::vector<Tensor>>(n, Tensor(&placeholder_)));
  tensor_boxes_.push_back(
      std::make_unique<BoxedTensorList>(BoxedTensorList{span, unboxed->data()}));
  return EValue(tensor_boxes_.back().get());
}

void RecordedCase::compare(const Holder& holder) const {
  const ScalarType type = holder.impl->scalar_type();
  const auto load = loader<double>(type);
  // A few units of the last place of the type; eager sums in another order.
  const double unit = slack * (type == ScalarType::Double     ? 1e-15
                               : type == ScalarType::Float    ? 4e-6
                               : type == ScalarType::Half     ? 1e-3
                               : type == ScalarType::BFloat16 ? 8e-3
                                                              : 0.0);
  for_each(holder, [&](size_t i, size_t at) {
    const double expected = holder.elements[i];
    const double got = load(holder.memory.data(), at);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << "element " << i << " is " << got;
    } else if (std::isinf(expected)) {
      EXPECT_EQ(got, expected) << "element " << i;
    } else {
      EXPECT_NEAR(got, expected, unit * (std::fabs(expected) + 0.5)) << "element " << i;
    }
  });
}

std::vector<std::unique_ptr<RecordedCase>> read_cases(const char* path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<std::unique_ptr<RecordedCase>> cases;
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("case ", 0) == 0) {
      cases.push_back(std::make_unique<RecordedCase>());
      cases.back()->name = line.substr(5);
    } else {
      cases.back()->add_line(line);
    }
  }
  return cases;
}

}  // namespace petrel::runtime
