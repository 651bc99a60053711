// SPDX-License-Identifier: Apache-2.0
//
// Of builds in which nothing is kept for the next loader: memory goes back to the system.
#include "extension/data_loader/spare_memory.h"

#include "runtime/platform/pages.h"

namespace petrel::extension {

void* SpareMemory::take(size_t size) { return runtime::take_pages(size); }

void SpareMemory::give_back(void* memory, size_t size) { runtime::give_back_pages(memory, size); }

void SpareMemory::clear() {}

}  // namespace petrel::extension
