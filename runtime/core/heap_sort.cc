// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/heap_sort.h"

namespace petrel::runtime {

namespace {

// Moves what is at `place` down to where nothing below it, and before `end`, comes after it.
void sink(Sortable* all, size_t place, size_t end) {
  for (size_t child = 2 * place + 1; child < end; child = 2 * place + 1) {
    if (child + 1 < end && all->is_before(child, child + 1)) ++child;
    if (!all->is_before(place, child)) return;
    all->swap(place, child);
    place = child;
  }
}

}  // namespace

void heap_sort(Sortable* all, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sink(all, i, count);
  while (count-- > 1) {
    all->swap(0, count);
    sink(all, 0, count);
  }
}

}  // namespace petrel::runtime
