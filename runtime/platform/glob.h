// SPDX-License-Identifier: Apache-2.0
//
// Patterns as of file names, over any text: * is any text, ? any byte, [a-z] one of a range, and
// [!a-z] none of it. A backslash is a backslash.
//
//   matches_glob("*lora*", "layers.0.lora_a")     true
//   matches_glob("layers.[0-3].*", "layers.7.w")  false

#ifndef PETREL_RUNTIME_PLATFORM_GLOB_H_
#define PETREL_RUNTIME_PLATFORM_GLOB_H_

namespace petrel::runtime {

bool matches_glob(const char* glob, const char* text);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_GLOB_H_
