// SPDX-License-Identifier: Apache-2.0
#include "test/faults/golden.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "test/eager/case_file.h"

namespace petrel::faults {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::TensorLayout;

constexpr char kFolder[] = "test/faults/golden/";
constexpr uint8_t kDimOrder[] = {0, 1, 2, 3};

GoldenValue value_of(const test::EagerTensor& tensor) {
  GoldenValue value;
  value.type = static_cast<runtime::ScalarType>(tensor.scalar_type);
  value.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  for (const double element : tensor.elements) value.data.push_back(static_cast<float>(element));
  return value;
}

// What a call reads or gives, in its order.
std::vector<GoldenValue> values_of(const std::vector<test::CallArgument>& arguments,
                                   const std::vector<test::EagerTensor>& tensors) {
  std::vector<GoldenValue> values;
  for (const test::CallArgument& argument : arguments) {
    if (const auto* number = std::get_if<int64_t>(&argument)) {
      values.emplace_back();
      values.back().is_number = true;
      values.back().number = *number;
    }
    const auto* name = std::get_if<test::TensorName>(&argument);
    for (const test::EagerTensor& tensor : tensors) {
      if (name != nullptr && tensor.name == name->name) values.push_back(value_of(tensor));
    }
  }
  return values;
}

}  // namespace

const GoldenMethod* Golden::find(const std::string& method) const {
  for (const GoldenMethod& candidate : methods) {
    if (candidate.name == method) return &candidate;
  }
  return nullptr;
}

Golden load_golden(const std::string& name) {
  Golden golden;
  golden.name = name;
  std::ifstream program(kFolder + name + ".pte", std::ios::binary);
  golden.bytes.assign(std::istreambuf_iterator<char>(program), {});
  for (const test::EagerCase& one : test::load_eager_cases(std::string(kFolder) + "cases.txt")) {
    if (!one.call || one.name != name + "." + one.call->function) continue;
    golden.methods.push_back({one.call->function, values_of(one.call->arguments, one.inputs),
                              values_of(one.call->outputs, one.expected)});
    for (const test::EagerTensor& weight : one.constants) {
      golden.weights[weight.name] = value_of(weight);
    }
  }
  if (golden.bytes.empty() || golden.methods.empty()) {
    std::fprintf(stderr, "golden program %s is not there\n", name.c_str());
    std::abort();
  }
  return golden;
}

const std::vector<std::string>& golden_names() {
  static const auto* const names =
      new std::vector<std::string>{"add",    "choice", "counter", "delegate", "external",
                                   "inline", "linear", "loop",    "methods",  "stack"};
  return *names;
}

Result<FreeableBuffer> GoldenDataMap::get_data(std::string_view key) const {
  const auto found = golden_.weights.find(std::string(key));
  if (found == golden_.weights.end()) return Error::NotFound;
  const std::vector<float>& data = found->second.data;
  return FreeableBuffer(data.data(), data.size() * sizeof(float), nullptr);
}

Result<uint32_t> GoldenDataMap::get_num_keys() const {
  return static_cast<uint32_t>(golden_.weights.size());
}

Result<const char*> GoldenDataMap::get_key(uint32_t index) const {
  if (index >= golden_.weights.size()) return Error::InvalidArgument;
  return std::next(golden_.weights.begin(), index)->first.c_str();
}

Result<const TensorLayout> GoldenDataMap::get_tensor_layout(std::string_view key) const {
  const auto found = golden_.weights.find(std::string(key));
  if (found == golden_.weights.end()) return Error::NotFound;
  const std::vector<int32_t>& sizes = found->second.sizes;
  return TensorLayout::create(sizes, runtime::Span<const uint8_t>(kDimOrder, sizes.size()),
                              found->second.type);
}

}  // namespace petrel::faults
