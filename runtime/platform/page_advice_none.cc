// SPDX-License-Identifier: Apache-2.0
//
// Of systems that have neither: macOS keeps what pages hold that were dropped, Windows may.
#include "runtime/platform/pages.h"

namespace petrel::runtime {

bool clear_pages(void*, size_t) { return false; }

bool populate_pages(void*, size_t) { return false; }

}  // namespace petrel::runtime
