// SPDX-License-Identifier: Apache-2.0
//
// The payload of the packed backend: lines of words, each line one value or one
// output. Values are float tensors; they are numbered in the order of their
// lines, and operands come before their uses.
//
//   packed 1             always first
//   input 6            value 0: the next argument, 6 elements
//   part 6 9 24 <key>  value 1: 6 elements of named data that has 24, from element 9; the
//                      key is all the rest
//   add 0 1            value 2
//   mul 2 0            value 3
//   output 3           the next result
//
// Neither allocates nor owns: `text` must outlive the reader and its keys.
#ifndef PETREL_EXAMPLES_BACKEND_PACKED_FORMAT_PAYLOAD_H_
#define PETREL_EXAMPLES_BACKEND_PACKED_FORMAT_PAYLOAD_H_

#include <cstddef>
#include <string_view>

namespace petrel::backends::packed {

inline constexpr std::string_view kBackendId = "PackedBackend";
inline constexpr std::string_view kFirstLine = "packed 1";

struct Line {
  enum class Kind { kInput, kPart, kAdd, kMul, kOutput };
  Kind kind = Kind::kInput;
  size_t first = 0;      // elements (input, part), operand or output
  size_t second = 0;     // first element of part, operand of add and mul
  size_t of = 0;         // elements of the named data of part
  std::string_view key;  // of part

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

}  // namespace petrel::backends::packed

#endif  // PETREL_EXAMPLES_BACKEND_PACKED_FORMAT_PAYLOAD_H_
