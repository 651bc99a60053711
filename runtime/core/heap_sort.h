// SPDX-License-Identifier: Apache-2.0
//
// heap_sort: puts what somebody has in a list in order, by comparing and swapping places of it. It
// needs no memory, is never slow, and is there once, whatever is sorted.
//
//   struct Rows final : Sortable {
//     bool is_before(size_t a, size_t b) const override { return rows[a] < rows[b]; }
//     void swap(size_t a, size_t b) override { std::swap(rows[a], rows[b]); }
//     ...
//   };
//   heap_sort(&rows, count);

#ifndef PETREL_RUNTIME_CORE_HEAP_SORT_H_
#define PETREL_RUNTIME_CORE_HEAP_SORT_H_

#include <cstddef>

namespace petrel::runtime {

class Sortable {
 public:
  // Of two different places; an order in which no two are equal leaves nothing to chance.
  virtual bool is_before(size_t a, size_t b) const = 0;
  virtual void swap(size_t a, size_t b) = 0;

 protected:
  ~Sortable() = default;
};

void heap_sort(Sortable* all, size_t count);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_HEAP_SORT_H_
