// SPDX-License-Identifier: Apache-2.0
//
// Changes bytes of no known structure: decisions of a generator (choices.h), texts, and
// what mutators of a structure leave to others.
//
//   mutate_bytes(random, kMost, &bytes);              // one change
//   mutate_bytes_with(random, other, kMost, &bytes);  // a few, of which some are from `other`
//
// The result has at most `most` bytes.

#ifndef PETREL_TEST_FUZZ_BYTE_MUTATOR_H_
#define PETREL_TEST_FUZZ_BYTE_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace petrel::fuzz {

void mutate_bytes(std::minstd_rand& random, size_t most, std::vector<uint8_t>* bytes);

void mutate_bytes_with(std::minstd_rand& random, const std::vector<uint8_t>& other, size_t most,
                       std::vector<uint8_t>* bytes);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_BYTE_MUTATOR_H_
