// SPDX-License-Identifier: Apache-2.0
//
// Takes the floats away at the border of a quantised method: callers give and get the
// integers that it computes with, and learn what they stand for.
//
//   before   method @m(%x: f32[1,4]) {
//              %q = quantize_per_tensor(%x, 0.02, 3, ...)
//              %d = dequantize_per_tensor(%q, 0.02, 3, ...)
//              %y = linear(%d, ...)
//              %p = quantize_per_tensor(%y, 0.5, 0, ...)
//              %z = dequantize_per_tensor(%p, 0.5, 0, ...)
//              return %z }
//   after    method @m(%x: i8[1,4]) {
//              %d = dequantize_per_tensor(%x, 0.02, 3, ...)
//              %y = linear(%d, ...)
//              %p = quantize_per_tensor(%y, 0.5, 0, ...)
//              return %p }
//
// An input must be quantised in one way and be used in no other; an output must be
// dequantised from what was computed. What is otherwise stays f32, with the reason.
#ifndef PETREL_EXIR_QUANTIZE_INTEGER_BORDER_H_
#define PETREL_EXIR_QUANTIZE_INTEGER_BORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/program.h"

namespace petrel::exir {

// What integers at the border stand for: scale * (level - zero_point).
struct BorderLevels {
  ScalarType dtype = ScalarType::kChar;  // kByte, kChar
  double scale = 1;
  int64_t zero_point = 0;
  int64_t least = 0;
  int64_t most = 0;
};

// An input or output of f32.
struct BorderValue {
  bool is_input = true;
  size_t place = 0;  // among all inputs, or all outputs, of the method
  std::string name;
  std::string reason;   // why it stays f32; "" when it is integers
  BorderLevels levels;  // of integers

  // "input 0 'image'".
  std::string describe() const;
};

using Border = std::vector<BorderValue>;  // inputs before outputs
using BorderByMethod = std::map<std::string, Border>;

// `words` are "int8", for all inputs and outputs that can do with 8 bits, or "GLOB=int8",
// for those of these names ("image", or by place "input_0", "output_1"), which must.
// InvalidArgument naming the word that is neither.
absl::Status check_border_words(const std::vector<std::string>& words);

// Changes the methods of a program whose values are quantised. InvalidArgument where a name
// asks for what is not possible, with the reasons, or matches nothing; and where nothing is
// possible at all.
absl::StatusOr<BorderByMethod> open_border(Program& program, const std::vector<std::string>& words);

// Methods that return what integers stand for, one number each, by the names that
// ExecuTorch gives them: "forward_input0_scale", "..._zp", "..._quant_min", "..._quant_max",
// "..._dtype", and "forward_output0_scale" .... InvalidArgument when a method of the model
// has such a name.
absl::Status add_border_methods(Program& program, const BorderByMethod& borders);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_INTEGER_BORDER_H_
