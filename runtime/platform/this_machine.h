// SPDX-License-Identifier: Apache-2.0
//
// What files are marked with that another machine or another program must not use: what the
// system says of its processors, and the state of the binary that code is in.
//
//   const std::string processors = describe_processors();   // empty: it says nothing
//   FileState binary;
//   if (!read_binary_state(code, &binary)) ...

#ifndef PETREL_RUNTIME_PLATFORM_THIS_MACHINE_H_
#define PETREL_RUNTIME_PLATFORM_THIS_MACHINE_H_

#include <string>

#include "runtime/platform/file.h"

namespace petrel::runtime {

// As far as the choice of kernels may depend on it; speeds, which change, are left out.
std::string describe_processors();

// Of the program or shared library with the code at `code`.
bool read_binary_state(const void* code, FileState* state);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_THIS_MACHINE_H_
