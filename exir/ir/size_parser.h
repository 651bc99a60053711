// SPDX-License-Identifier: Apache-2.0
//
// Reads sizes that vary from the text form: the symbols of a method, and
// expressions over them as size_expression.h prints them.
//
//   SizeParser sizes;
//   sizes.declare(cursor);      // <s0: 1..16, s1: 2..9 at 9|2|3|4|5|6|7|8>
//   sizes.expression(cursor)    // (4*s0 + 3)//2, min(s0, s1 - 1)
//
// A `//` is a division where it follows an operand at once; behind white space it
// begins a comment, as everywhere.
#ifndef PETREL_EXIR_IR_SIZE_PARSER_H_
#define PETREL_EXIR_IR_SIZE_PARSER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/size_expression.h"
#include "exir/ir/text_cursor.h"

namespace petrel::exir {

class SizeParser {
 public:
  // Nothing where no `<` comes next.
  absl::Status declare(TextCursor& in);
  absl::StatusOr<SizeExpression> expression(TextCursor& in) { return sum(in, 0); }

 private:
  static constexpr int kMaxNesting = 32;

  absl::Status symbol(TextCursor& in);
  absl::StatusOr<SizeExpression> sum(TextCursor& in, int depth);
  absl::StatusOr<SizeExpression> product(TextCursor& in, int depth);
  absl::StatusOr<SizeExpression> operand(TextCursor& in, int depth);
  absl::StatusOr<SizeExpression> extreme(TextCursor& in, bool is_largest, int depth);

  std::map<std::string, std::shared_ptr<const SizeSymbol>> symbols_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_SIZE_PARSER_H_
