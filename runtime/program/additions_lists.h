// SPDX-License-Identifier: Apache-2.0
//
// How many texts the lists of petrel.program have together. FlatBuffers' verifier goes
// through such a list again for each table that refers to it: a file of 2 MB can have
// 200,000 tables with one list of 200,000 texts. So they are counted before it runs, with
// nothing verified but what leads to them.
//
//   flatbuffers::Verifier verifier(bytes, size, options);
//   const std::optional<uint64_t> texts = count_listed_texts(verifier, bytes);
//
// Owns nothing.

#ifndef PETREL_RUNTIME_PROGRAM_ADDITIONS_LISTS_H_
#define PETREL_RUNTIME_PROGRAM_ADDITIONS_LISTS_H_

#include <cstdint>
#include <optional>

#include "flatbuffers/flatbuffers.h"

namespace petrel::runtime {

// Each list as often as a table refers to it; nothing where the way to one is damaged.
// `bytes` is what the verifier has.
std::optional<uint64_t> count_listed_texts(flatbuffers::Verifier& verifier, const uint8_t* bytes);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_ADDITIONS_LISTS_H_
