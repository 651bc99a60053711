// SPDX-License-Identifier: Apache-2.0
//
// A loader over bytes in memory that are told to backends (byte_source.h): what one
// made of a weight serves for all loads from the same bytes.
//
//   std::unique_ptr<DataLoader> loader = open_memory(bytes.data(), bytes.size());
//
// As BufferDataLoader, which stays for systems without heap and locks. Of bytes that somebody
// may change it copies the structure of programs, which is verified once; weights stay where
// they are and are read as numbers only.
#ifndef PETREL_EXTENSION_DATA_LOADER_MEMORY_H_
#define PETREL_EXTENSION_DATA_LOADER_MEMORY_H_

#include <cstddef>
#include <memory>

#include "runtime/core/data_loader.h"

namespace petrel::extension {

std::unique_ptr<runtime::DataLoader> open_memory(const void* data, size_t size,
                                                 bool may_change = false);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_MEMORY_H_
