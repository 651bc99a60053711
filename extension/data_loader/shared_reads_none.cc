// SPDX-License-Identifier: Apache-2.0
//
// Of builds in which nothing is shared: every read has its own memory.
#include <utility>

#include "extension/data_loader/shared_reads.h"

namespace petrel::extension {

std::optional<runtime::FreeableBuffer> SharedReads::find(const Range&) { return std::nullopt; }

runtime::FreeableBuffer SharedReads::share(const Range&, runtime::FreeableBuffer&& read) {
  return std::move(read);
}

}  // namespace petrel::extension
