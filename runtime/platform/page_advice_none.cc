// SPDX-License-Identifier: Apache-2.0
//
// Of systems that have none of it: macOS keeps what pages hold that were dropped, Windows may.
#include "runtime/platform/pages.h"

namespace petrel::runtime {

bool clear_pages(void*, size_t) { return false; }

bool populate_pages(void*, size_t) { return false; }
bool bring_pages(const void*, size_t) { return false; }

void prefer_huge_pages(void*, size_t) {}

bool huge_pages_are_cheap() { return false; }

}  // namespace petrel::runtime
