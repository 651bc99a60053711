// SPDX-License-Identifier: Apache-2.0
//
// The rows and cells of CSV text, with the quotes of RFC 4180:
//
//   a, b c ,,"x, ""y"""        cells "a", "b c", "", "x, \"y\""
//
// White space around a cell does not count, unless it is inside of quotes; so
// do commas and line ends. Lines end with LF or CR LF; empty ones are skipped.

#ifndef PETREL_EXIR_PLAN_FORMATS_CSV_ROWS_H_
#define PETREL_EXIR_PLAN_FORMATS_CSV_ROWS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace petrel::exir::plan {

struct CsvRow {
  size_t line = 0;  // where it begins, from 1
  std::vector<std::string> cells;
};

// Errors name the line of what is wrong.
absl::StatusOr<std::vector<CsvRow>> read_csv_rows(absl::string_view text);

// The cell as it reads back the same: with quotes where it needs them.
std::string csv_cell(absl::string_view text);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_FORMATS_CSV_ROWS_H_
