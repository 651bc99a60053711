// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/wrong_calls.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include "runtime/core/scalar_type.h"
#include "runtime/core/tensor.h"

namespace petrel::runtime {
namespace {

using test::CallArgument;
using test::EagerCase;
using test::EagerTensor;
using test::TensorName;
using test::TensorNames;

constexpr ScalarType kTypes[] = {ScalarType::Bool,     ScalarType::Byte,  ScalarType::Char,
                                 ScalarType::Short,    ScalarType::Int,   ScalarType::Long,
                                 ScalarType::Half,     ScalarType::Float, ScalarType::Double,
                                 ScalarType::BFloat16, ScalarType::QInt8};
constexpr size_t kLimit = kTensorDimensionLimit;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

bool is_integer(int8_t type) {
  const auto scalar_type = static_cast<ScalarType>(type);
  return scalar_type == ScalarType::Int || scalar_type == ScalarType::Long;
}

// Elements for the sizes, each one a number of the dtype: small, if it is another now.
void fit(EagerTensor& tensor, bool other_type) {
  size_t count = 1;
  for (const int64_t size : tensor.sizes) count *= static_cast<size_t>(size);
  tensor.elements.resize(count, 1);
  if (!other_type) return;
  for (double& element : tensor.elements) {
    element = std::isnan(element) ? 0 : std::trunc(std::min(std::max(element, 0.0), 1.0));
  }
}

void use_rows(EagerTensor& tensor) {
  tensor.dim_order.resize(tensor.sizes.size());
  std::iota(tensor.dim_order.begin(), tensor.dim_order.end(), uint8_t{0});
}

class Changes {
 public:
  explicit Changes(const EagerCase& right) : right_(right) {}

  std::vector<WrongCall> all() {
    change_all_types();
    change_all_ranks();
    for (size_t i = 0; i < right_.inputs.size(); ++i) change_tensor(&EagerCase::inputs, i);
    for (size_t i = 0; i < right_.constants.size(); ++i) change_tensor(&EagerCase::constants, i);
    for (size_t i = 0; i < right_.expected.size(); ++i) change_tensor(&EagerCase::expected, i);
    for (size_t i = 0; i < right_.call->arguments.size(); ++i) change_argument(i);
    for (size_t i = 0; i < right_.call->outputs.size(); ++i) change_output(i);
    for (const Tensors list : {&EagerCase::inputs, &EagerCase::constants}) {
      for (size_t i = 0; i < (right_.*list).size(); ++i) change_all_but_one(list, i);
    }
    return std::move(calls_);
  }

 private:
  using Tensors = std::vector<EagerTensor> EagerCase::*;

  EagerCase& add(std::string change) {
    calls_.push_back({std::move(change), right_});
    return calls_.back().call;
  }

  // Otherwise the check that types are the same stops what a kernel cannot compute.
  void change_all_types() {
    if (right_.inputs.empty()) return;
    const int8_t right = right_.inputs.front().scalar_type;
    for (const ScalarType type : kTypes) {
      const auto number = static_cast<int8_t>(type);
      if (number == right) continue;
      EagerCase& call =
          add("all like " + right_.inputs.front().name + ": type " + std::to_string(number));
      for (const Tensors list : {&EagerCase::inputs, &EagerCase::constants, &EagerCase::expected}) {
        for (EagerTensor& tensor : call.*list) {
          if (tensor.scalar_type != right) continue;
          tensor.scalar_type = number;
          fit(tensor, true);
        }
      }
    }
  }

  // Otherwise the check that ranks are the same stops what has too few or too many dims.
  void change_all_ranks() {
    EagerCase& none = add("all: no dims");
    for_all_tensors(none, [](EagerTensor& tensor) { tensor.sizes.clear(); });
    EagerCase& most = add("all: the most dims");
    for_all_tensors(most, [](EagerTensor& tensor) {
      const size_t rank = tensor.sizes.size();
      if (rank < kLimit) tensor.sizes.insert(tensor.sizes.begin(), kLimit - rank, 1);
    });
  }

  // A tensor without dims has an element, and a list of its ranks the length of one that may have
  // none.
  void change_all_but_one(Tensors list, size_t i) {
    const std::string name = (right_.*list)[i].name;
    EagerCase& empty = add("all: no dims, " + name + ": no elements");
    for_all_tensors(
        empty, [&](EagerTensor& tensor) { tensor.sizes.assign(tensor.name == name ? 1 : 0, 0); });
    EagerCase& only = add("all: no elements, " + name + ": no dims");
    for_all_tensors(
        only, [&](EagerTensor& tensor) { tensor.sizes.assign(tensor.name == name ? 0 : 1, 0); });
  }

  template <typename Change>
  static void for_all_tensors(EagerCase& call, Change change) {
    for (const Tensors list : {&EagerCase::inputs, &EagerCase::constants, &EagerCase::expected}) {
      for (EagerTensor& tensor : call.*list) {
        const size_t rank = tensor.sizes.size();
        change(tensor);
        if (tensor.sizes.size() != rank) use_rows(tensor);
        fit(tensor, false);
      }
    }
  }

  void change_tensor(Tensors list, size_t i) {
    const EagerTensor& right = (right_.*list)[i];
    const std::string name = right.name + ": ";
    for (const ScalarType type :
         {ScalarType::Bool, ScalarType::Byte, ScalarType::Char, ScalarType::Int, ScalarType::Long,
          ScalarType::Half, ScalarType::Float, ScalarType::Double, ScalarType::QInt8}) {
      const auto number = static_cast<int8_t>(type);
      if (number == right.scalar_type) continue;
      EagerTensor& tensor = (add(name + "type " + std::to_string(number)).*list)[i];
      tensor.scalar_type = number;
      fit(tensor, true);
    }
    change_sizes(list, i, name);
    const size_t rank = right.sizes.size();
    if (rank > 1) {
      EagerTensor& tensor = (add(name + "dims turned around").*list)[i];
      std::reverse(tensor.dim_order.begin(), tensor.dim_order.end());
    }
    const size_t count = right.elements.size();
    if (rank == 1 && count % 2 == 0 && count > 2) {
      EagerTensor& tensor = (add(name + "two columns").*list)[i];
      tensor.sizes = {2, static_cast<int64_t>(count / 2)};
      tensor.dim_order = {1, 0};
    }
    if (!is_integer(right.scalar_type) || right.elements.empty()) return;
    for (const double number : {-1000.0, -1.0, 0.0, 1000.0, 2147483647.0}) {
      for (const size_t at : {size_t{0}, right.elements.size() - 1}) {
        const std::string element = "element " + std::to_string(at) + " is ";
        EagerCase& call = add(name + element + std::to_string(static_cast<int64_t>(number)));
        (call.*list)[i].elements[at] = number;
      }
    }
  }

  void change_sizes(Tensors list, size_t i, const std::string& name) {
    const auto sized = [&](const std::string& change, const std::vector<int64_t>& sizes) {
      EagerTensor& tensor = (add(name + change).*list)[i];
      tensor.sizes = sizes;
      if (sizes.size() != tensor.dim_order.size()) use_rows(tensor);
      fit(tensor, false);
    };
    const std::vector<int64_t>& right = (right_.*list)[i].sizes;
    std::vector<int64_t> sizes = right;
    sizes.push_back(1);
    sized("one more dim", sizes);
    sizes = right;
    sizes.insert(sizes.begin(), 2);
    sized("one dim before", sizes);
    sized("no dims", {});
    if (right.size() < kLimit) {
      sizes = right;
      sizes.insert(sizes.begin(), kLimit - right.size(), 1);
      sized("the most dims", sizes);
    }
    if (right.empty()) return;
    sizes = right;
    sizes.pop_back();
    sized("without the last dim", sizes);
    sizes.assign(right.begin() + 1, right.end());
    sized("without the first dim", sizes);
    for (size_t d = 0; d < right.size(); ++d) {
      for (const int64_t more : {-right[d], int64_t{-1}, int64_t{1}, int64_t{3}}) {
        sizes = right;
        sizes[d] += more;
        if (sizes[d] < 0 || more == 0) continue;
        sized("size " + std::to_string(d) + " + " + std::to_string(more), sizes);
      }
    }
  }

  void set(size_t i, const std::string& change, CallArgument value) {
    add("argument " + std::to_string(i) + " " + change).call->arguments[i] = std::move(value);
  }

  void change_argument(size_t i) {
    std::visit(
        [&](const auto& right) {
          using T = std::decay_t<decltype(right)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            fill_absent(i);
          } else if constexpr (std::is_same_v<T, bool>) {
            set(i, "is the other", !right);
          } else if constexpr (std::is_same_v<T, int64_t>) {
            for (const int64_t number : others(right)) {
              set(i, "is " + std::to_string(number), number);
            }
          } else if constexpr (std::is_same_v<T, double>) {
            for (const double number : {0.0, -1.0, 0.5, 1e300, double{INFINITY}, double{NAN}}) {
              set(i, "is " + std::to_string(number), number);
            }
          } else if constexpr (std::is_same_v<T, std::string>) {
            set(i, "is another word", std::string("other"));
          } else if constexpr (std::is_same_v<T, TensorName>) {
            set(i, "is absent", std::monostate());
            for (const EagerTensor& input : right_.inputs) {
              if (input.name != right.name) set(i, "is " + input.name, TensorName{input.name});
            }
          } else if constexpr (std::is_same_v<T, TensorNames>) {
            change_names(i, right);
          } else {
            change_list(i, right);
          }
        },
        right_.call->arguments[i]);
  }

  static std::vector<int64_t> others(int64_t right) {
    const int64_t next = right == kMost ? kLeast : right + 1;
    const int64_t before = right == kLeast ? kMost : right - 1;
    const int64_t same_low_bits =
        right > 0 ? right - (int64_t{1} << 32) : right + (int64_t{1} << 32);
    std::vector<int64_t> numbers = {0,    1,    -1,     2,      3,     100,
                                    -100, next, before, kLeast, kMost, same_low_bits};
    const auto same = [right](int64_t number) { return number == right; };
    numbers.erase(std::remove_if(numbers.begin(), numbers.end(), same), numbers.end());
    return numbers;
  }

  void fill_absent(size_t i) {
    for (const EagerTensor& input : right_.inputs) {
      set(i, "is " + input.name, TensorName{input.name});
    }
    for (const int64_t number : {int64_t{0}, int64_t{-1}, kMost, kLeast}) {
      set(i, "is " + std::to_string(number), number);
    }
    set(i, "is 0.5", 0.5);
  }

  template <typename T>
  void change_list(size_t i, const std::vector<T>& right) {
    std::vector<T> list = right;
    list.push_back(1);
    set(i, "has one more", list);
    list.push_back(1);
    set(i, "has two more", list);
    list.resize(kLimit + 1, 1);
    set(i, "has 17", list);
    if (right.empty()) return;
    set(i, "lacks its last", std::vector<T>(right.begin(), right.end() - 1));
    set(i, "is empty", std::vector<T>());
    for (size_t k = 0; k < right.size(); ++k) {
      const auto changed = [&](const std::string& number, T value) {
        list = right;
        list[k] = value;
        set(i, "has " + number + " at " + std::to_string(k), list);
      };
      if constexpr (std::is_same_v<T, int64_t>) {
        for (const int64_t number : others(right[k])) changed(std::to_string(number), number);
      } else {
        for (const double number : {0.0, -1.0, 1e300, double{NAN}}) {
          changed(std::to_string(number), number);
        }
      }
    }
  }

  void change_names(size_t i, const TensorNames& right) {
    TensorNames names = right;
    names.names.clear();
    set(i, "is empty", names);
    if (right.names.empty()) return;
    names = right;
    names.names.pop_back();
    set(i, "lacks its last", names);
    names = right;
    names.names.push_back(right.names.front());
    set(i, "has its first once more", names);
    for (size_t k = 0; right.may_miss && k < right.names.size(); ++k) {
      if (right.names[k].empty()) continue;
      names = right;
      names.names[k].clear();
      set(i, "lacks " + std::to_string(k), names);
    }
  }

  void change_output(size_t i) {
    const std::string output = "output " + std::to_string(i) + " ";
    const CallArgument& right = right_.call->outputs[i];
    if (const auto* names = std::get_if<TensorNames>(&right)) {
      if (names->names.empty()) return;
      TensorNames fewer = *names;
      fewer.names.pop_back();
      add(output + "lacks its last").call->outputs[i] = fewer;
      return;
    }
    if (!std::holds_alternative<TensorName>(right)) return;
    for (const auto* tensors : {&right_.inputs, &right_.expected}) {
      for (const EagerTensor& tensor : *tensors) {
        if (tensor.name == std::get<TensorName>(right).name) continue;
        add(output + "is " + tensor.name).call->outputs[i] = TensorName{tensor.name};
      }
    }
  }

  const EagerCase& right_;
  std::vector<WrongCall> calls_;
};

}  // namespace

std::vector<WrongCall> wrong_calls(const EagerCase& right) {
  EagerCase named = right;  // what the call names
  auto& expected = named.expected;
  expected.erase(std::remove_if(expected.begin(), expected.end(), test::is_after), expected.end());
  return Changes(named).all();
}

}  // namespace petrel::runtime
