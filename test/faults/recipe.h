// SPDX-License-Identifier: Apache-2.0
//
// Recipe: a program as plain data, right as it is and easily made wrong in one
// place. build() writes the file.
//
//   Recipe recipe;                                  // y = x + c, see recipe.cc
//   recipe.plans[0].values[0].sizes[1] = -4;
//   const std::vector<uint8_t> bytes = build(recipe);
//
//   file:  | flatbuffer with header | pad | segment 0: constants | pad | 1: ... |

#ifndef PETREL_TEST_FAULTS_RECIPE_H_
#define PETREL_TEST_FAULTS_RECIPE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schema/program_generated.h"

namespace petrel::faults {

namespace fb = schema::program;

struct PlaceRecipe {
  uint32_t memory_id = 1;
  uint64_t offset = 0;
};

struct ExtraRecipe {
  std::optional<std::string> name;
  fb::TensorDataLocation location = fb::TensorDataLocation::SEGMENT;
  fb::DeviceType device = fb::DeviceType::CPU;
};

struct ValueRecipe {
  fb::KernelTypes type = fb::KernelTypes::Tensor;
  // The body is left out.
  bool without_body = false;

  // Int, Bool, Double.
  double number = 0;
  std::optional<std::string> text;
  // Lists; also of doubles and bools.
  std::vector<int64_t> items;

  int8_t scalar_type = static_cast<int8_t>(fb::ScalarType::FLOAT);
  int32_t storage_offset = 0;
  std::vector<int32_t> sizes;
  bool without_sizes = false;
  std::vector<uint8_t> dim_order;
  bool without_dim_order = false;
  uint32_t constant = 0;
  std::optional<PlaceRecipe> place;
  int8_t layout = 0;
  int8_t dynamism = 0;
  std::optional<ExtraRecipe> extra;
};

struct InstructionRecipe {
  fb::InstructionArguments type = fb::InstructionArguments::KernelCall;
  bool without_body = false;
  // Operator, delegate, source, condition or freed value.
  int32_t first = 0;
  // Destination of a move or jump.
  int32_t second = 0;
  std::vector<int32_t> args;
};

struct OperatorRecipe {
  std::optional<std::string> name;
  std::optional<std::string> overload;
};

struct DelegateRecipe {
  std::optional<std::string> id = "XnnpackBackend";
  bool without_payload = false;
  int8_t location = static_cast<int8_t>(fb::DataLocation::SEGMENT);
  uint32_t index = 0;
  // Keys and values.
  std::vector<std::pair<std::optional<std::string>, std::string>> specs;
};

struct PlanRecipe {
  std::optional<std::string> name = "forward";
  std::vector<ValueRecipe> values;
  bool without_values = false;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<std::vector<InstructionRecipe>> chains;
  std::vector<OperatorRecipe> operators;
  std::vector<DelegateRecipe> delegates;
  std::vector<int64_t> arenas;
  // Arena and device.
  std::vector<std::pair<int32_t, fb::DeviceType>> devices;
};

struct EntriesRecipe {
  uint32_t segment = 0;
  std::vector<uint64_t> offsets;
};

struct Recipe {
  Recipe();

  uint32_t version = 0;
  std::vector<PlanRecipe> plans;
  bool without_plans = false;
  std::vector<std::vector<uint8_t>> segments;
  std::optional<EntriesRecipe> constants;
  // Constants inside the flatbuffer, as old files have them.
  std::vector<std::vector<uint8_t>> constant_buffers;
  std::vector<EntriesRecipe> mutable_data;
  std::vector<std::vector<uint8_t>> inline_payloads;
  // Keys and segments.
  std::vector<std::pair<std::optional<std::string>, uint32_t>> named_data;

  // Called with what each segment says before it is written.
  std::function<void(size_t index, uint64_t* offset, uint64_t* size)> change_segment;
  // Otherwise the file is the flatbuffer alone, and segments are lost.
  bool with_header = true;
  uint32_t header_length = 32;
  // Lists without entries are left out of the file, as a writer may.
  bool without_empty_lists = false;
};

std::vector<uint8_t> build(const Recipe& recipe);

// A float tensor in the arena, contiguous.
ValueRecipe planned_tensor(std::vector<int32_t> sizes, uint64_t offset);
ValueRecipe number_value(fb::KernelTypes type, double number);
ValueRecipe list_value(fb::KernelTypes type, std::vector<int64_t> items);

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_RECIPE_H_
