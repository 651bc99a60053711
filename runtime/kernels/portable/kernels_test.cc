// SPDX-License-Identifier: Apache-2.0
//
// Runs the calls of testdata/cases.txt and compares with what eager torch
// computed. The format is described in testdata/make_cases.py, which wrote it.
#include "runtime/kernels/portable/kernels.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "runtime/kernels/portable/element.h"

namespace petrel::runtime {
namespace {

using portable::loader;
using portable::storer;

// A tensor with room for everything it refers to.
struct Holder {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int64_t> strides;
  std::vector<double> elements;  // in logical order
  std::vector<uint64_t> memory;
  std::unique_ptr<TensorImpl> impl;
};

ScalarType type_of(const std::string& word) {
  const std::pair<const char*, ScalarType> kTypes[] = {
      {"f32", ScalarType::Float},  {"f64", ScalarType::Double},    {"i64", ScalarType::Long},
      {"i32", ScalarType::Int},    {"i16", ScalarType::Short},     {"i8", ScalarType::Char},
      {"u8", ScalarType::Byte},    {"bool", ScalarType::Bool},     {"f16", ScalarType::Half},
      {"bf16", ScalarType::BFloat16}};
  for (const auto& [name, type] : kTypes) {
    if (word == name) return type;
  }
  ADD_FAILURE() << "unknown type " << word;
  return ScalarType::Byte;
}

// A case and the values it is made of.
class Case {
 public:
  std::string name;

  void add_line(const std::string& line) {
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

  // Calls `kernel` and compares all outputs.
  void run(const Kernel& kernel) {
    std::vector<EValue*> args;
    for (EValue& value : args_) args.push_back(&value);
    KernelRuntimeContext context(nullptr, nullptr, kernel.name);
    kernel.fn(context, Span<EValue*>(args.data(), args.size()));
    ASSERT_EQ(context.failure_state(), Error::Ok);
    ASSERT_FALSE(outputs_.empty());
    for (Holder* output : outputs_) compare(*output);
  }

 private:
  EValue parse(const std::string& kind, std::istringstream& in) {
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

  EValue parse_tensor(std::istringstream& in, bool is_out) {
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
      for_each(holder, [&](size_t i, size_t at) {
        store(holder.memory.data(), at, holder.elements[i]);
      });
    }
    return EValue(Tensor(holder.impl.get()));
  }

  EValue finish_list() {
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
      optional_boxes_.push_back(std::make_unique<BoxedOptionalTensorList>(
          BoxedOptionalTensorList{span, unboxed->data()}));
      return EValue(optional_boxes_.back().get());
    }
    auto& unboxed = tensors_.emplace_back(
        std::make_unique<std::vector<Tensor>>(n, Tensor(&placeholder_)));
    tensor_boxes_.push_back(
        std::make_unique<BoxedTensorList>(BoxedTensorList{span, unboxed->data()}));
    return EValue(tensor_boxes_.back().get());
  }

  // fn(logical index, memory index).
  template <typename Fn>
  static void for_each(const Holder& holder, Fn fn) {
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

  static void compare(const Holder& holder) {
    const ScalarType type = holder.impl->scalar_type();
    const auto load = loader<double>(type);
    // A few units of the last place of the type; eager sums in another order.
    const double unit = type == ScalarType::Double     ? 1e-15
                        : type == ScalarType::Float    ? 4e-6
                        : type == ScalarType::Half     ? 1e-3
                        : type == ScalarType::BFloat16 ? 8e-3
                                                       : 0.0;
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

  std::vector<EValue> args_;
  std::vector<Holder*> outputs_;
  std::vector<std::unique_ptr<Holder>> holders_;
  std::vector<EValue> list_;
  size_t list_left_ = 0;
  std::string list_kind_;
  TensorImpl placeholder_;
  std::vector<std::unique_ptr<std::string>> strings_;
  std::vector<std::unique_ptr<std::vector<double>>> doubles_;
  std::vector<std::unique_ptr<std::vector<EValue>>> lists_;
  std::vector<std::unique_ptr<std::vector<EValue*>>> items_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> ints_;
  std::vector<std::unique_ptr<std::vector<Tensor>>> tensors_;
  std::vector<std::unique_ptr<std::vector<std::optional<Tensor>>>> optionals_;
  std::vector<std::unique_ptr<BoxedIntList>> int_boxes_;
  std::vector<std::unique_ptr<BoxedTensorList>> tensor_boxes_;
  std::vector<std::unique_ptr<BoxedOptionalTensorList>> optional_boxes_;
};

std::vector<std::unique_ptr<Case>> read_cases() {
  std::ifstream in("runtime/kernels/portable/testdata/cases.txt");
  EXPECT_TRUE(in.good());
  std::vector<std::unique_ptr<Case>> cases;
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("case ", 0) == 0) {
      cases.push_back(std::make_unique<Case>());
      cases.back()->name = line.substr(5);
    } else {
      cases.back()->add_line(line);
    }
  }
  return cases;
}

const Kernel* find(const std::string& name) {
  for (const Kernel& kernel : portable_kernels()) {
    if (name == kernel.name) return &kernel;
  }
  return nullptr;
}

TEST(PortableKernels, AgreeWithEagerTorch) {
  const auto cases = read_cases();
  ASSERT_GT(cases.size(), 240u);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i) + ": " + cases[i]->name);
    const Kernel* kernel = find(cases[i]->name);
    ASSERT_NE(kernel, nullptr);
    cases[i]->run(*kernel);
  }
}

// Operators of which torch has no out-variant to call; their functions serve
// others that are compared.
TEST(PortableKernels, AreAllCompared) {
  std::set<std::string> compared = {"dim_order_ops::_clone_dim_order.out",
                                    "dim_order_ops::_to_dim_order_copy.out", "aten::copy_",
                                    "aten::empty.out"};
  for (const auto& c : read_cases()) compared.insert(c->name);
  for (const Kernel& kernel : portable_kernels()) {
    EXPECT_EQ(compared.count(kernel.name), 1u) << kernel.name;
  }
}

TEST(PortableKernels, HaveUniqueNames) {
  std::set<std::string> names;
  for (const Kernel& kernel : portable_kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
  }
}

// Every argument of the wrong type, and every missing argument, must fail the
// call without touching memory it should not (run under AddressSanitizer).
TEST(PortableKernels, FailOnArgumentsOfOtherTypes) {
  set_log_hook(LogHook{});
  int32_t sizes[2] = {2, 2};
  uint8_t order[2] = {0, 1};
  int64_t strides[2] = {2, 1};
  float data[4] = {1, 2, 3, 4};
  TensorImpl impl(ScalarType::Float, 2, sizes, nullptr, order, strides);
  ASSERT_EQ(impl.set_data(data, sizeof(data)), Error::Ok);
  const bool flags[] = {true, false};
  const double reals[] = {0.5, -1.0};
  EValue one(int64_t{1});
  EValue* int_items[] = {&one, &one};
  int64_t unboxed[2];
  BoxedIntList ints{Span<EValue*>(int_items), unboxed};
  EValue tensor{Tensor(&impl)};
  EValue* tensor_items[] = {&tensor, &tensor};
  Tensor tensors[2] = {Tensor(&impl), Tensor(&impl)};
  BoxedTensorList tensor_list{Span<EValue*>(tensor_items), tensors};
  EValue values[] = {EValue(),
                     EValue(int64_t{-7}),
                     EValue(1e300),
                     EValue(true),
                     tensor,
                     EValue(std::string_view("none")),
                     EValue(Span<const bool>(flags)),
                     EValue(Span<const double>(reals)),
                     EValue(&ints),
                     EValue(&tensor_list)};
  constexpr size_t kMostArguments = 11;
  uint32_t random = 12345;
  for (const Kernel& kernel : portable_kernels()) {
    for (int round = 0; round < 300; ++round) {
      EValue* args[kMostArguments];
      random = random * 1664525u + 1013904223u;
      const size_t count = (random >> 8) % (kMostArguments + 1);
      for (size_t i = 0; i < count; ++i) {
        random = random * 1664525u + 1013904223u;
        args[i] = &values[(random >> 16) % (sizeof(values) / sizeof(values[0]))];
      }
      KernelRuntimeContext context(nullptr, nullptr, kernel.name);
      kernel.fn(context, Span<EValue*>(args, count));
      if (count < 2) {
        EXPECT_NE(context.failure_state(), Error::Ok) << kernel.name;
      }
    }
  }
}

}  // namespace
}  // namespace petrel::runtime
