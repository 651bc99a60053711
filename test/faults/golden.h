// SPDX-License-Identifier: Apache-2.0
//
// The golden programs in test/faults/golden, made by make_golden.py: bytes, and
// what eager torch gives for some inputs. All tensors are f32.

#ifndef PETREL_TEST_FAULTS_GOLDEN_H_
#define PETREL_TEST_FAULTS_GOLDEN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/core/named_data_map.h"
#include "runtime/core/scalar_type.h"

namespace petrel::faults {

// A tensor with its data, or a number.
struct GoldenValue {
  bool is_number = false;
  int64_t number = 0;
  runtime::ScalarType type = runtime::ScalarType::Float;
  std::vector<int32_t> sizes;
  std::vector<float> data;
};

struct GoldenMethod {
  std::string name;
  std::vector<GoldenValue> inputs;
  std::vector<GoldenValue> outputs;
};

struct Golden {
  std::string name;
  std::vector<uint8_t> bytes;
  std::vector<GoldenMethod> methods;
  std::map<std::string, GoldenValue> weights;

  const GoldenMethod* find(const std::string& method) const;
};

// Ends the test program if the files are not there.
Golden load_golden(const std::string& name);

// The names of all of them.
const std::vector<std::string>& golden_names();

// The weights of a golden program as a data map with layouts.
class GoldenDataMap final : public runtime::NamedDataMap {
 public:
  // `golden` must outlive the map.
  explicit GoldenDataMap(const Golden& golden) : golden_(golden) {}

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;

 private:
  const Golden& golden_;
};

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_GOLDEN_H_
