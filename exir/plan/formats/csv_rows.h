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

// One row after the other, so that a file of many short ones takes no more memory than what
// is made of it:
//
//   CsvReader reader(text);  // which must outlive it
//   for (;;) {
//     PETREL_ASSIGN_OR_RETURN(const bool is_row, reader.next(&row));
//     if (!is_row) break;
class CsvReader {
 public:
  explicit CsvReader(absl::string_view text) : rest_(text) {}

  // False at the end of the text. Errors name the line of what is wrong.
  absl::StatusOr<bool> next(CsvRow* row);

 private:
  absl::StatusOr<std::string> plain();
  absl::StatusOr<std::string> quoted();
  void skip_spaces();
  bool skip_empty_line();
  absl::string_view take_to(const char* ends);

  absl::string_view rest_;
  size_t line_ = 1;
};

// The cell as it reads back the same: with quotes where it needs them.
std::string csv_cell(absl::string_view text);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_FORMATS_CSV_ROWS_H_
