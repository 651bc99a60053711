// SPDX-License-Identifier: Apache-2.0
//
// Changes a FlatBuffer where it means something: numbers become extreme ones or each
// other, offsets lead to another table of the same or of another kind (so that tables
// are shared), fields and elements go, unions are taken for others. Byte mutations
// seldom pass the first check; of these many do.
//
//   extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
//                                             unsigned seed) {
//     return mutate_flatbuffer(schema, 0, data, size, max_size, seed);
//   }

#ifndef PETREL_TEST_FUZZ_FLATBUFFER_MUTATOR_H_
#define PETREL_TEST_FUZZ_FLATBUFFER_MUTATOR_H_

#include <cstddef>
#include <cstdint>

#include "flatbuffers/reflection_generated.h"

namespace petrel::fuzz {

// The buffer begins at `start`; what is before it and bytes in general are left to
// libFuzzer's own mutations, which come up, too.
size_t mutate_flatbuffer(const reflection::Schema& schema, size_t start, uint8_t* data, size_t size,
                         size_t max_size, unsigned seed);

// One change of the kinds above; false when the buffer has nothing to change.
bool change_flatbuffer(const reflection::Schema& schema, uint8_t* data, size_t size, unsigned seed);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_FLATBUFFER_MUTATOR_H_
