// SPDX-License-Identifier: Apache-2.0
//
// odd_programs FOLDER: writes programs that are right, and odd for those who hand
// values on to other languages.
//
//   dtype_N.pte   an output of element type N, one file for each
//   no_memory.pte a delegate, "Stranger", with an argument that nothing gives memory to
//   echo.pte      returns its input [2, 3], which is the caller's
//   weight.pte    returns "bias" [3], which is outside
//   text.pte      an output that is a string and not UTF-8
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/core/scalar_type.h"
#include "test/faults/attack.h"

namespace petrel::faults {
namespace {

void write(const std::string& path, const Recipe& recipe) {
  const std::vector<uint8_t> bytes = build(recipe);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

// A method without inputs or instructions that returns value 4.
Recipe returns(ValueRecipe value) {
  Recipe recipe;
  add_value(recipe, std::move(value));
  plan(recipe).inputs.clear();
  plan(recipe).chains[0].clear();
  plan(recipe).operators.clear();
  plan(recipe).outputs = {4};
  return recipe;
}

void write_all(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (int8_t number = 0; number < 64; ++number) {
    if (!runtime::is_valid(static_cast<runtime::ScalarType>(number))) continue;
    ValueRecipe value = planned_tensor({2, 3}, 0);
    value.scalar_type = number;
    write(folder + "/dtype_" + std::to_string(number) + ".pte", returns(value));
  }
  Recipe echo = returns(planned_tensor({2, 3}, 0));
  plan(echo).values[4].place.reset();
  plan(echo).inputs = {4};
  write(folder + "/echo.pte", echo);

  Recipe weight = returns(planned_tensor({2, 3}, 0));
  constant(weight).extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
  plan(weight).outputs = {1};
  write(folder + "/weight.pte", weight);

  ValueRecipe text = number_value(Types::String, 0);
  text.text = "\xff\xfe";
  write(folder + "/text.pte", returns(text));

  ValueRecipe nowhere = planned_tensor({1 << 20}, 0);
  nowhere.place.reset();
  Recipe recipe = returns(planned_tensor({2, 3}, 32));
  add_value(recipe, nowhere);
  add_delegate(recipe, [](DelegateRecipe& delegate) { delegate.id = "Stranger"; });
  add_instruction(recipe, Arguments::DelegateCall, 0, 0);
  plan(recipe).chains[0].back().args = {5, 4};
  write(folder + "/no_memory.pte", recipe);
}

}  // namespace
}  // namespace petrel::faults

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: odd_programs FOLDER\n");
    return 1;
  }
  petrel::faults::write_all(words[1]);
  return 0;
}
