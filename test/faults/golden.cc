// SPDX-License-Identifier: Apache-2.0
#include "test/faults/golden.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace petrel::faults {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::TensorLayout;

constexpr char kFolder[] = "test/faults/golden/";
constexpr uint8_t kDimOrder[] = {0, 1, 2, 3};

// "float32 [2,3] 1.0 2.0 ..." or "number 4".
GoldenValue parse_value(std::istringstream& line) {
  GoldenValue value;
  std::string type;
  line >> type;
  if (type == "number") {
    value.is_number = true;
    line >> value.number;
    return value;
  }
  std::string sizes;
  line >> sizes;
  std::istringstream list(sizes.substr(1, sizes.size() - 2));
  for (std::string size; std::getline(list, size, ',');) value.sizes.push_back(std::stoi(size));
  for (float element; line >> element;) value.data.push_back(element);
  return value;
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
  std::ifstream text(kFolder + name + ".txt");
  if (golden.bytes.empty() || !text) {
    std::fprintf(stderr, "golden program %s is not there\n", name.c_str());
    std::abort();
  }
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "method") {
      golden.methods.emplace_back();
      words >> golden.methods.back().name;
    } else if (kind == "weight") {
      std::string key;
      words >> key;
      golden.weights[key] = parse_value(words);
    } else if (kind == "input") {
      golden.methods.back().inputs.push_back(parse_value(words));
    } else {
      golden.methods.back().outputs.push_back(parse_value(words));
    }
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

Result<TensorLayout> GoldenDataMap::get_tensor_layout(std::string_view key) const {
  const auto found = golden_.weights.find(std::string(key));
  if (found == golden_.weights.end()) return Error::NotFound;
  const std::vector<int32_t>& sizes = found->second.sizes;
  return TensorLayout::create(sizes, runtime::Span<const uint8_t>(kDimOrder, sizes.size()),
                              found->second.type);
}

}  // namespace petrel::faults
