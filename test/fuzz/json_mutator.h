// SPDX-License-Identifier: Apache-2.0
//
// Changes JSON by whole parts, so that it stays JSON: values become each other, names
// other names of the text, numbers extreme ones; members and elements go or come
// twice. Byte mutations of JSON mostly end in its parser.
//
//   extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
//                                             unsigned seed) {
//     return mutate_json(data, size, max_size, seed);
//   }

#ifndef PETREL_TEST_FUZZ_JSON_MUTATOR_H_
#define PETREL_TEST_FUZZ_JSON_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace petrel::fuzz {

// Bytes in general are left to libFuzzer's own mutations, which come up, too. What
// stands between several texts is left as it is.
size_t mutate_json(uint8_t* data, size_t size, size_t max_size, unsigned seed);

// The text with one change of the kinds above; empty when there is nothing to change.
std::string change_json(const std::string& text, unsigned seed);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_JSON_MUTATOR_H_
