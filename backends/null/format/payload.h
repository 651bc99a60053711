// SPDX-License-Identifier: Apache-2.0
//
// The payload of the null backend: lines of words, each line one value or one
// output. Values are float tensors; they are numbered in the order of their
// lines, and operands come before their uses.
//
//   null 1             always first
//   input 6            value 0: the next argument, 6 elements
//   blob 6 <key>       value 1: named data, 6 elements; the key is all the rest
//   add 0 1            value 2
//   mul 2 0            value 3
//   output 3           the next result
//
// Neither allocates nor owns: `text` must outlive the reader and its keys.
#ifndef PETREL_BACKENDS_NULL_FORMAT_PAYLOAD_H_
#define PETREL_BACKENDS_NULL_FORMAT_PAYLOAD_H_

#include <cstddef>
#include <string_view>

namespace petrel::backends::null {

inline constexpr std::string_view kBackendId = "NullBackend";
inline constexpr std::string_view kFirstLine = "null 1";

struct Line {
  enum class Kind { kInput, kBlob, kAdd, kMul, kOutput };
  Kind kind = Kind::kInput;
  size_t first = 0;      // elements (input, blob), operand or output
  size_t second = 0;     // operand of add and mul
  std::string_view key;  // of blob

  bool is_value() const { return kind != Kind::kOutput; }
};

class PayloadReader {
 public:
  explicit PayloadReader(std::string_view text) : rest_(text) {}

  // Takes the first line. False when the payload is not of this backend.
  bool read_first_line();
  // Takes the next line; false at the end, and where a line is malformed.
  bool next(Line* line);
  bool is_malformed() const { return malformed_; }

 private:
  std::string_view take_line();

  std::string_view rest_;
  bool malformed_ = false;
};

}  // namespace petrel::backends::null

#endif  // PETREL_BACKENDS_NULL_FORMAT_PAYLOAD_H_
