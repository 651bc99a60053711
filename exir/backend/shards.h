// SPDX-License-Identifier: Apache-2.0
//
// Cuts the data of one file into several of a limited size, for stores and file
// systems that take no larger ones:
//
//   PETREL_ASSIGN_OR_RETURN(auto shards, cut_into_shards("w.ptd", data, limit));
//   // {"w-00001-of-00002.ptd": ..., "w-00002-of-00002.ptd": ...}
//
// Buffers keep their order and are never cut; keys follow their buffers. Data
// that fits stays "w.ptd". The same data and limit give the same shards.
#ifndef PETREL_EXIR_BACKEND_SHARDS_H_
#define PETREL_EXIR_BACKEND_SHARDS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "exir/backend/named_blob_store.h"

namespace petrel::exir {

// No file that is written from a shard is larger than `max_file_bytes`.
// InvalidArgument naming the key of a buffer that alone is too large.
absl::StatusOr<std::map<std::string, NamedBlobStore::Destination>> cut_into_shards(
    const std::string& name, const NamedBlobStore::Destination& data, uint64_t max_file_bytes);

// "w.ptd" of "w-00001-of-00002.ptd", and of itself.
std::string name_without_shard(const std::string& name);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_SHARDS_H_
