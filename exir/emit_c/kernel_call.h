// SPDX-License-Identifier: Apache-2.0
//
// A call of a kernel of runtime/micro/kernels: which file, what stands in the place of
// its names in capitals, and what it is called with.
//
//   {"kernels/map.h", "relu", {{"EXPRESSION", "x < 0.0 ? 0.0 : x"}, ...},
//    {"arena + 16", "arena + 64", "12"}}
//
// Calls whose texts are equal share one function in the generated file. Sizes that are known
// at run time only are parameters of it, before those that the file has:
//
//   {"kernels/product.h", "mm", {{"ROWS", "rows_"}, ...}, {...}, {{"rows_", "sizes->s31"}}}
#ifndef PETREL_EXIR_EMIT_C_KERNEL_CALL_H_
#define PETREL_EXIR_EMIT_C_KERNEL_CALL_H_

#include <map>
#include <string>
#include <vector>

namespace petrel::exir::emit_c {

// What stands for a name in capitals is a parameter.
struct VaryingToken {
  std::string parameter;
  std::string value;  // an int64_t in C, or a double; "" for what C cannot compute
  const char* type = "int32_t";
};

struct KernelCall {
  std::string source;                         // "kernels/map.h"
  std::string name;                           // of the function, after the prefix
  std::map<std::string, std::string> tokens;  // NAME is not among them
  std::vector<std::string> arguments;         // C expressions
  std::vector<VaryingToken> varying;
  // Returns 1 for data that it cannot take, an index that is out of range.
  bool can_fail = false;
  // Returns the size of its result that data tell, or -1 for data that it cannot take.
  bool counts = false;
};

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_KERNEL_CALL_H_
