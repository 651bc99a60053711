// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/plain_terms.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace petrel::exir::emit_c {
namespace {

constexpr absl::string_view kOperators[] = {"<<", ">>", "->", "++", "--", "&&", "||",
                                            "==", "!=", "<=", ">=", "+=", "-=", "*=",
                                            "/=", "%=", "&=", "|=", "^="};

// A word, a number, an operator, or text that is copied as it is; `space` is before it.
struct Token {
  std::string space, text;
  bool is_opaque = false;
};

bool is_word_char(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// How much of `text`, which is not empty, is one comment, string or line of the preprocessor.
size_t opaque_length(absl::string_view text, bool at_line_start) {
  if (absl::StartsWith(text, "/*")) {
    const size_t end = text.find("*/", 2);
    return end == absl::string_view::npos ? text.size() : end + 2;
  }
  if (at_line_start && text[0] == '#') {
    size_t end = 0;
    while (end < text.size() && (text[end] != '\n' || text[end - 1] == '\\')) ++end;
    return end;
  }
  if (text[0] != '"' && text[0] != '\'') return 0;
  size_t end = 1;
  while (end < text.size() && text[end] != text[0]) end += text[end] == '\\' ? 2 : 1;
  return std::min(text.size(), end + 1);
}

size_t plain_length(absl::string_view text) {
  const bool is_number = absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
  size_t end = 0;
  while (end < text.size() && (is_word_char(text[end]) || (is_number && text[end] == '.') ||
                               (is_number && end > 0 && absl::StrContains("+-", text[end]) &&
                                absl::StrContains("eEpP", text[end - 1])))) {
    ++end;
  }
  if (end > 0) return end;
  for (const absl::string_view sign : kOperators) {
    if (absl::StartsWith(text, sign)) return sign.size();
  }
  return 1;
}

std::vector<Token> tokens_of(absl::string_view text) {
  std::vector<Token> tokens;
  bool at_line_start = true;
  for (size_t i = 0; i < text.size();) {
    Token token;
    while (i < text.size() && absl::ascii_isspace(static_cast<unsigned char>(text[i]))) {
      at_line_start = at_line_start || text[i] == '\n';
      token.space += text[i++];
    }
    if (i < text.size()) {
      const size_t opaque = opaque_length(text.substr(i), at_line_start);
      token.is_opaque = opaque > 0;
      token.text = std::string(text.substr(i, opaque > 0 ? opaque : plain_length(text.substr(i))));
      i += token.text.size();
      at_line_start = false;
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

bool is_one_of(const Token& token, absl::string_view signs) {
  return !token.is_opaque && token.text.size() == 1 && absl::StrContains(signs, token.text);
}

// Works on one statement after the other: what is dropped from one moves no others, of which a
// model has as many as steps.
class Terms {
 public:
  explicit Terms(std::vector<Token> tokens) {
    bool is_first = true;
    for (Token& token : tokens) {
      ++uses_[token.text];
      // Each begins with the end of the one before it, which is not printed again.
      if (is_first) statements_.push_back({{"", ";", false}});
      is_first = token.text == ";";
      statements_.back().push_back(std::move(token));
    }
  }

  bool simplify() {
    bool changed = false;
    for (std::vector<Token>& statement : statements_) {
      tokens_.swap(statement);
      for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
        changed =
            drop_product(i) || drop_product_of_zero(i) || drop_factor(i) || drop_term(i) || changed;
      }
      tokens_.swap(statement);
    }
    return changed;
  }

  std::string text() const {
    std::string text;
    for (const std::vector<Token>& statement : statements_) {
      for (size_t i = 1; i < statement.size(); ++i) text += statement[i].space + statement[i].text;
    }
    return text;
  }

 private:
  bool is(size_t i, absl::string_view text) const {
    return i < tokens_.size() && !tokens_[i].is_opaque && tokens_[i].text == text;
  }
  // What a sum may begin behind, and end before.
  bool begins(size_t i) const {
    return is_one_of(tokens_[i], "([{,=") || is_weaker(i) || is(i, "return");
  }
  bool ends(size_t i) const {
    return i < tokens_.size() && (is_one_of(tokens_[i], ")]},;+-") || is_weaker(i));
  }
  // Operators that bind less than a sum.
  bool is_weaker(size_t i) const {
    const std::string& text = tokens_[i].text;
    return is_one_of(tokens_[i], "<>?:") || text == "&&" || text == "||" ||
           (text.size() == 2 && text[1] == '=');
  }
  bool is_operand_end(size_t i) const {
    return !tokens_[i].is_opaque &&
           (is_word_char(tokens_[i].text.back()) || is_one_of(tokens_[i], ")]"));
  }

  void erase(size_t from, size_t count) {
    const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(from);
    for (size_t i = from; i < from + count; ++i) --uses_[tokens_[i].text];
    tokens_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  }

  // "x * 1" at the sign, and "1 * x" at the number.
  bool drop_factor(size_t i) {
    if (is(i, "*") && is(i + 1, "1") && is_operand_end(i - 1) && !is_cast_end(i - 1)) {
      erase(i, 2);
      return true;
    }
    const bool is_first =
        begins(i - 1) || (is_one_of(tokens_[i - 1], "+-") && i >= 2 && is_operand_end(i - 2));
    if (!is_first || !is(i, "1") || !is(i + 1, "*") || is_type_or_cast(i + 2)) return false;
    const std::string space = tokens_[i].space;
    erase(i, 2);
    tokens_[i].space = space;
    return true;
  }

  // "x + 0" and "x - 0" at the sign, "0 + x" and "0 - x" at the number.
  bool drop_term(size_t i) {
    if (is_one_of(tokens_[i], "+-") && is(i + 1, "0") && is_operand_end(i - 1) && ends(i + 2)) {
      erase(i, 2);
      return true;
    }
    if (!begins(i - 1) || !is(i, "0") || i + 2 >= tokens_.size()) return false;
    const bool is_negative = is(i + 1, "-") && !absl::StartsWith(tokens_[i + 2].text, "-");
    if (!is(i + 1, "+") && !is_negative) return false;
    const std::string space = tokens_[i].space;
    erase(i, is_negative ? 1 : 2);
    if (is_negative) tokens_[i + 1].space.clear();
    tokens_[i].space = space;
    return true;
  }

  // "0 * x" at the 0, x being one word or number.
  bool drop_product_of_zero(size_t i) {
    if (!is(i, "0") || !is(i + 1, "*") || !ends(i + 3) || !is_word_char(tokens_[i + 2].text[0])) {
      return false;
    }
    if (!begins(i - 1) && !is_one_of(tokens_[i - 1], "+-")) return false;
    const bool is_name = absl::ascii_isalpha(static_cast<unsigned char>(tokens_[i + 2].text[0]));
    if (tokens_[i + 2].is_opaque || (is_name && uses_[tokens_[i + 2].text] < 3)) return false;
    erase(i + 1, 2);
    return true;
  }

  // Where the operand before `end` begins: a word, a number, or a sum or product of them in
  // parentheses; `end` when there is none.
  size_t operand_begin(size_t end) const {
    if (is_plain_word(end - 1)) return end - 1;
    if (!is(end - 1, ")")) return end;
    size_t begin = end - 2;
    while (begin > 0 && (is_plain_word(begin) || is_one_of(tokens_[begin], "+-*/%"))) --begin;
    const bool is_group = is(begin, "(") && begin > 0 && !is_operand_end(begin - 1);
    return is_group && begin + 1 < end - 1 ? begin : end;
  }

  bool is_plain_word(size_t i) const {
    return !tokens_[i].is_opaque && is_word_char(tokens_[i].text[0]);
  }

  // "x / 3 * 0" and "(x + 3) * 0" at the sign before the 0: words and numbers alone, so that no
  // call is lost.
  bool drop_product(size_t i) {
    if (!is(i, "*") || !is(i + 1, "0") || !ends(i + 2)) return false;
    size_t begin = i;
    while (begin >= 2 && operand_begin(begin) < begin) {
      begin = operand_begin(begin);
      if (begin == 0 || !is_one_of(tokens_[begin - 1], "*/%")) break;
      begin -= 1;
    }
    if (begin == i || begin == 0) return false;
    const bool is_whole = begins(begin - 1) || is_one_of(tokens_[begin - 1], "+-");
    if (!is_whole) return false;
    for (size_t k = begin; k < i; ++k) {
      const bool is_name = absl::ascii_isalpha(static_cast<unsigned char>(tokens_[k].text[0]));
      // One use is the declaration.
      if (is_name && uses_[tokens_[k].text] < 3) return false;
    }
    const std::string space = tokens_[begin].space;
    erase(begin, i + 1 - begin);
    tokens_[begin].space = space;
    return true;
  }

  // "(float *)" and "(int32_t)(x)": a sign behind them is unary.
  bool is_cast_end(size_t i) const {
    if (!is(i, ")")) return false;
    if (is(i - 1, "*") || is(i - 1, "void")) return true;
    return absl::EndsWith(tokens_[i - 1].text, "_t") || is(i - 1, "float") || is(i - 1, "double") ||
           is(i - 1, "bool") || is(i - 1, "int") || is(i - 1, "char");
  }
  bool is_type_or_cast(size_t i) const { return i >= tokens_.size() || is(i, "sizeof"); }

  std::vector<std::vector<Token>> statements_;
  std::vector<Token> tokens_;        // of the statement that is looked at
  std::map<std::string, int> uses_;  // in all of them
};

}  // namespace

std::string with_plain_terms(absl::string_view text) {
  Terms terms(tokens_of(text));
  while (terms.simplify()) {
  }
  return terms.text();
}

}  // namespace petrel::exir::emit_c
