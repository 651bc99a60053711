// SPDX-License-Identifier: Apache-2.0
//
// The words of the text form: names, numbers, strings and literals, read from a
// text that the caller owns. Every function starts by skipping white space and
// comments (`// ...`) and leaves the cursor behind what it read; after an error
// it stands at what was wrong.
//
//   TextCursor in("%x = 2.5");
//   in.name('%')    "x"
//   in.accept("=")  true
//   in.literal()    Argument(2.5)
#ifndef PETREL_EXIR_IR_TEXT_CURSOR_H_
#define PETREL_EXIR_IR_TEXT_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "exir/ir/argument.h"

namespace petrel::exir {

class TextCursor {
 public:
  explicit TextCursor(absl::string_view text) : text_(text) {}

  // InvalidArgument: "line 2, column 7: WHAT".
  absl::Status error(const std::string& what) const;

  void skip_space();
  bool at_end() const { return place_ == text_.size(); }
  // Whether `token` comes next; keywords must end where a word ends.
  bool at(absl::string_view token);
  // at(), and then behind it.
  bool accept(absl::string_view token);
  absl::Status expect(absl::string_view token);

  // Letters, digits and _ . $ / @; may be empty.
  absl::string_view word();
  absl::StatusOr<std::string> string_literal();
  // A name behind its sigil: %x, @"a b".
  absl::StatusOr<std::string> name(char sigil);
  absl::StatusOr<int64_t> integer();
  // The same where other characters of words may follow: the 1 of 1..16.
  absl::StatusOr<int64_t> digits();
  // Letters, digits and _, not beginning with a digit; may be empty.
  absl::string_view identifier();
  // `token` right here, without white space in between; then behind it.
  bool follows(absl::string_view token);
  // none, true, -3, 0.5, inf, f32, channels_last.
  absl::StatusOr<Argument> literal();

 protected:
  absl::string_view text_;
  size_t place_ = 0;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_TEXT_CURSOR_H_
