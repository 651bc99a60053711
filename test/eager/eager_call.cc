// SPDX-License-Identifier: Apache-2.0
#include "test/eager/eager_call.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace petrel::test {
namespace {

// Reads from the front of a text. After the first error all reading fails.
class Reader {
 public:
  explicit Reader(absl::string_view text) : rest_(text) {}

  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  // Whether `token` was next; then it is behind us, with the spaces after it.
  bool take(absl::string_view token) {
    if (!absl::ConsumePrefix(&rest_, token)) return false;
    while (absl::ConsumePrefix(&rest_, " ")) {
    }
    return true;
  }

  void expect(absl::string_view token) {
    if (!take(token)) fail(absl::StrCat("expected '", token, "'"));
  }

  void expect_end() {
    if (!rest_.empty()) fail("expected the end");
  }

  // Up to the next character that ends a word.
  std::string word() {
    const size_t length = rest_.find_first_of(" ,()[]\"");
    const std::string text(rest_.substr(0, length));
    if (text.empty()) fail("expected a word");
    rest_.remove_prefix(text.size());
    take("");
    return text;
  }

  std::string tensor() {
    expect("%");
    return word();
  }

  CallArgument argument() {
    if (take("?[")) return tensors(true);
    if (take("[")) return list();
    if (absl::StartsWith(rest_, "%")) return TensorName{tensor()};
    if (take("\"")) {
      const size_t end = rest_.find('"');
      if (end == absl::string_view::npos) fail("a string without end");
      std::string text(rest_.substr(0, end));
      rest_.remove_prefix(text.size());
      expect("\"");
      return text;
    }
    const absl::string_view start = rest_;
    const std::string text = word();
    if (text == "none") return std::monostate();
    if (text == "true" || text == "false") return text == "true";
    return number(text, start);
  }

  CallArgument output() {
    if (take("[")) return tensors(false);
    int64_t whole = 0;
    if (absl::SimpleAtoi(rest_.substr(0, rest_.find(',')), &whole)) {
      word();
      return whole;
    }
    return TensorName{tensor()};
  }

 private:
  void fail(absl::string_view what) {
    if (!ok()) return;
    status_ = absl::InvalidArgumentError(absl::StrCat(what, " at '", rest_.substr(0, 20), "'"));
  }

  void fail_at(absl::string_view start, absl::string_view what) {
    if (ok()) rest_ = start;
    fail(what);
  }

  CallArgument number(const std::string& text, absl::string_view start) {
    int64_t whole = 0;
    double real = 0;
    if (absl::SimpleAtoi(text, &whole)) return whole;
    if (!absl::SimpleAtod(text, &real)) fail_at(start, "expected an argument");
    return real;
  }

  // The rest of a list whose bracket was read.
  CallArgument list() {
    if (absl::StartsWith(rest_, "%")) return tensors(false);
    std::vector<int64_t> whole;
    std::vector<double> real;
    while (ok() && !take("]")) {
      if (!whole.empty() || !real.empty()) expect(",");
      const absl::string_view start = rest_;
      const CallArgument item = number(word(), start);
      if (const auto* value = std::get_if<int64_t>(&item); value != nullptr && real.empty()) {
        whole.push_back(*value);
      } else if (value == nullptr && whole.empty()) {
        real.push_back(std::get<double>(item));
      } else {
        fail_at(start, "integers and reals in one list");
      }
    }
    if (!real.empty()) return real;
    return whole;
  }

  CallArgument tensors(bool may_miss) {
    TensorNames result{{}, may_miss};
    while (ok() && !take("]")) {
      if (!result.names.empty()) expect(",");
      const bool missing = may_miss && take("none");
      result.names.push_back(missing ? "" : tensor());
    }
    return result;
  }

  absl::string_view rest_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<EagerCall> parse_eager_call(absl::string_view text) {
  Reader reader(text);
  EagerCall call;
  call.function = reader.word();
  reader.expect("(");
  while (reader.ok() && !reader.take(")")) {
    if (!call.arguments.empty()) reader.expect(",");
    call.arguments.push_back(reader.argument());
  }
  reader.expect("->");
  do {
    call.outputs.push_back(reader.output());
  } while (reader.ok() && reader.take(","));
  reader.expect_end();
  if (!reader.ok()) return reader.status();
  return call;
}

}  // namespace petrel::test
