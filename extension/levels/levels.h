// SPDX-License-Identifier: Apache-2.0
//
// What integers at the border of a method stand for: number = scale * (level - zero_point).
//
// Programs tell it by methods of one number each, as those do that ExecuTorch's QuantizeInputs
// and QuantizeOutputs, or `petrel export --io-dtype int8`, made:
//
//   forward_input0_scale     0.02        or, of "forward", also without the name of the method
//   forward_input0_zp        3
//   forward_input0_quant_min -128        (these three are optional)
//   forward_input0_quant_max 127
//   forward_input0_dtype     1
//
//   PETREL_ASSIGN_OR_RETURN(const auto levels, input_levels(module->program(), "forward", 0));
//   if (levels) level = levels->level_of(0.5f);
//
// A program is only read; nothing is loaded. Who asks for many makes a ProgramLevels, which
// does not go through all methods for each.
#ifndef PETREL_EXTENSION_LEVELS_LEVELS_H_
#define PETREL_EXTENSION_LEVELS_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "runtime/core/result.h"
#include "runtime/core/scalar_type.h"
#include "runtime/executor/program.h"

namespace petrel::extension {

struct Levels {
  runtime::ScalarType type = runtime::ScalarType::Char;
  double scale = 1;
  int32_t zero_point = 0;
  int32_t least = 0;
  int32_t most = 0;

  // The nearest level, the even one of two that are as near, bit for bit as eager PyTorch has
  // it. NaN becomes the level of 0.
  int32_t level_of(float number) const;
  float number_of(int32_t level) const;
};

// The methods of a program by name. The program must outlive it.
class ProgramLevels final {
 public:
  explicit ProgramLevels(const runtime::Program& program);

  // Of a tensor of int8, uint8 or int16; nothing where the program does not tell.
  // InvalidProgram, with the method and its value in the log, where that is no scale or zero
  // point. NotFound when there is no such method, InvalidArgument when it has no such input.
  runtime::Result<std::optional<Levels>> input(std::string_view method, size_t index) const;
  runtime::Result<std::optional<Levels>> output(std::string_view method, size_t index) const;

  // Whether a method of this name tells levels of another one.
  bool is_told_by(std::string_view name) const;

 private:
  class Teller;

  const runtime::MethodView* find(std::string_view name) const;
  std::optional<runtime::ValueView> number(std::string_view name) const;
  runtime::Result<std::optional<Levels>> levels_of(std::string_view name, bool is_input,
                                                   size_t index) const;

  std::map<std::string_view, runtime::MethodView> methods_;
};

// Of one input or output.
runtime::Result<std::optional<Levels>> input_levels(const runtime::Program& program,
                                                    std::string_view method, size_t index);
runtime::Result<std::optional<Levels>> output_levels(const runtime::Program& program,
                                                     std::string_view method, size_t index);
}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_LEVELS_LEVELS_H_
