// SPDX-License-Identifier: Apache-2.0
//
// Changes a FlatBuffer where it means something: numbers become extreme ones or each
// other, offsets lead to another table of the same or of another kind (so that tables
// are shared), fields and elements go, unions are taken for others. Byte mutations
// seldom pass the first check; of these many do.
//
//   extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
//                                             unsigned seed) {
//     return mutate_flatbuffer(layout_of(data, size), data, size, max_size, seed);
//   }
//
// Mutants makes many of one input, for which it goes through it once; it keeps a copy.
//
//   Mutants mutants(layout_of(base.data(), base.size()), base);
//   mutants.make(random, &bytes);

#ifndef PETREL_TEST_FUZZ_FLATBUFFER_MUTATOR_H_
#define PETREL_TEST_FUZZ_FLATBUFFER_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "flatbuffers/reflection_generated.h"
#include "test/fuzz/flatbuffer_sites.h"

namespace petrel::fuzz {

// Each target with such inputs defines it.
Layout layout_of(const uint8_t* data, size_t size);

// What is before the buffer and bytes in general are left to libFuzzer's own mutations,
// which come up, too.
size_t mutate_flatbuffer(const Layout& layout, uint8_t* data, size_t size, size_t max_size,
                         unsigned seed);

// One change of the kinds above; false when the buffer has nothing to change.
bool change_flatbuffer(const Layout& layout, uint8_t* data, size_t size, unsigned seed);

class Mutants final {
 public:
  Mutants(const Layout& layout, std::vector<uint8_t> base);

  // One with a few changes, of bytes in general now and then.
  void make(std::minstd_rand& random, std::vector<uint8_t>* out) const;

 private:
  size_t start_;
  std::vector<uint8_t> base_;
  std::vector<Site> sites_;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_FLATBUFFER_MUTATOR_H_
