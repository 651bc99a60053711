// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/table_limit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::exir {
namespace {

// What is left to the scope of this thread; below 0 without one.
thread_local int64_t elements_left = -1;

}  // namespace

TableScope::TableScope() : is_outermost_(elements_left < 0) {
  if (is_outermost_) elements_left = kMostTablesElements;
}

TableScope::~TableScope() {
  if (is_outermost_) elements_left = -1;
}

absl::Status check_table(std::initializer_list<int64_t> sizes) {
  int64_t product = 1;
  bool fits = true;
  for (const int64_t size : sizes) {
    // What has no elements along one dim may be gone through along the others.
    fits = fits && !__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product) &&
           product <= kMostTableElements;
  }
  if (!fits) {
    return absl::UnimplementedError(absl::StrCat("needs a table of [", absl::StrJoin(sizes, ","),
                                                 "] elements, of which there may be ",
                                                 kMostTableElements));
  }
  if (elements_left < 0) return absl::OkStatus();
  if (product > elements_left) {
    return absl::ResourceExhaustedError(
        absl::StrCat("needs a table of [", absl::StrJoin(sizes, ","),
                     "] elements, with which there are more than ", kMostTablesElements,
                     " in all tables of the graph"));
  }
  elements_left -= product;
  return absl::OkStatus();
}

}  // namespace petrel::exir
