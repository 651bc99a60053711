// SPDX-License-Identifier: Apache-2.0
//
// What a program says beyond the shared format, on its way into the named data
// `petrel.program` (schema/additions.md). A program with nothing to add gets no
// such entry, so its bytes are those it had without this file.
//
//   Additions additions;
//   additions.methods.resize(program.methods.size());
//   additions.methods[0].scratch.push_back({3, 1, 4096, 12544});
//   if (!additions.empty()) store_additions(additions, &named_data);
#ifndef PETREL_EXIR_EMIT_ADDITIONS_H_
#define PETREL_EXIR_EMIT_ADDITIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exir/backend/named_blob_store.h"
#include "exir/ir/blob.h"
#include "exir/ir/type.h"

namespace petrel::exir {

// Temporary memory of the kernel of one instruction.
struct ScratchPlace {
  uint32_t instruction = 0;  // of the only chain
  uint32_t arena = 1;        // counted from 1
  int64_t offset = 0;
  int64_t bytes = 0;
};

// The least size that a dim of an input may have in a call.
struct LeastSize {
  uint32_t input = 0;
  uint32_t dim = 0;
  int32_t size = 0;
};

struct MethodAdditions {
  std::vector<ScratchPlace> scratch;      // by ascending instruction
  std::vector<LeastSize> least_sizes;     // where sizes vary
  std::map<uint32_t, std::string> names;  // of constants in the program, by value
};

// What data for one weight must be.
struct WeightAddition {
  std::string key;
  std::optional<TensorType> layout;
  uint64_t bytes = 0;
  std::optional<Sha256> digest;  // of the only bytes that will do
  // Names of constants of the archive that it was computed from; none if the key is that.
  std::vector<std::string> made_of;
};

struct Additions {
  std::vector<MethodAdditions> methods;  // in the order of the program
  std::vector<WeightAddition> weights;   // by key
  // How other weights are made for the program, if they can be.
  std::optional<Sha256> structure;
  std::vector<std::string> recipe;

  bool empty() const;
};

// What a verified entry says.
Additions read_additions(const Blob& entry);

// The bytes of the entry; equal additions give equal bytes.
Blob additions_blob(const Additions& additions);

// Appends the entry to the named data of the program.
void store_additions(const Additions& additions, NamedBlobStore::Destination* named);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_ADDITIONS_H_
