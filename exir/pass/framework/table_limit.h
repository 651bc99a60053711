// SPDX-License-Identifier: Apache-2.0
//
// How large a table may be that a rewrite computes from sizes: an archive may state any
// size in a few bytes, and nothing that it states may take memory or time without end.
//
//   PETREL_RETURN_IF_ERROR(check_table({rows, columns}));
//   std::vector<double> places;
#ifndef PETREL_EXIR_PASS_FRAMEWORK_TABLE_LIMIT_H_
#define PETREL_EXIR_PASS_FRAMEWORK_TABLE_LIMIT_H_

#include <cstdint>
#include <initializer_list>

#include "absl/status/status.h"

namespace petrel::exir {

inline constexpr int64_t kMostTableElements = int64_t{1} << 25;

// Unimplemented unless the product of these, of which none is negative, is at most that.
absl::Status check_table(std::initializer_list<int64_t> sizes);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_TABLE_LIMIT_H_
