// SPDX-License-Identifier: Apache-2.0
//
// Problem: why a payload is refused. The compiler and the runtime have error
// types of their own; this is what the format says to both.
//
//   if (Problem p = check_shapes(graph); !p.ok()) log(p.text());
//
// Text is one sentence that names the thing, its value and the limit.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_PROBLEM_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_PROBLEM_H_

#include <string>
#include <utility>

namespace petrel::backends::xnnpack {

class [[nodiscard]] Problem {
 public:
  enum class Kind {
    kNone,
    kInvalid,      // damaged, hostile or made wrongly
    kUnsupported,  // meaningful, but not something that is implemented
  };

  Problem() = default;
  static Problem none() { return Problem(); }
  static Problem invalid(std::string text) { return Problem(Kind::kInvalid, std::move(text)); }
  static Problem unsupported(std::string text) {
    return Problem(Kind::kUnsupported, std::move(text));
  }

  bool ok() const { return kind_ == Kind::kNone; }
  Kind kind() const { return kind_; }
  const std::string& text() const { return text_; }

  // "node 3 (Conv2d): " + text, for messages that are made from inside out.
  Problem in(const std::string& where) && {
    text_ = where + ": " + text_;
    return std::move(*this);
  }

 private:
  Problem(Kind kind, std::string text) : kind_(kind), text_(std::move(text)) {}

  Kind kind_ = Kind::kNone;
  std::string text_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_PROBLEM_H_
