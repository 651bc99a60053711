// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/table_limit.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::exir {

absl::Status check_table(std::initializer_list<int64_t> sizes) {
  int64_t product = 1;
  bool fits = true;
  for (const int64_t size : sizes) {
    fits =
        fits && !__builtin_mul_overflow(product, size, &product) && product <= kMostTableElements;
  }
  if (fits) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("needs a table of [", absl::StrJoin(sizes, ","),
                                               "] elements, of which there may be ",
                                               kMostTableElements));
}

}  // namespace petrel::exir
