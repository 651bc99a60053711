// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/names.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir::emit_c {
namespace {

// Of external names C99 promises to tell 31 characters; linkers of today take any number,
// and a package name must leave room for what follows it.
constexpr size_t kLongestPackageName = 24;

}  // namespace

std::string sanitized(absl::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(c));
    if (fits) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty() || absl::ascii_isdigit(static_cast<unsigned char>(result[0]))) {
    result.insert(0, "v");
  }
  return result;
}

bool is_keyword(absl::string_view name) {
  static const std::set<absl::string_view> kKeywords = {
      "alignas",      "alignof",       "and",         "asm",
      "auto",         "bool",          "break",       "case",
      "catch",        "char",          "class",       "const",
      "const_cast",   "constexpr",     "continue",    "decltype",
      "default",      "delete",        "do",          "double",
      "dynamic_cast", "else",          "enum",        "explicit",
      "export",       "extern",        "false",       "float",
      "for",          "friend",        "goto",        "if",
      "inline",       "int",           "long",        "mutable",
      "namespace",    "new",           "noexcept",    "not",
      "nullptr",      "operator",      "or",          "private",
      "protected",    "public",        "register",    "restrict",
      "return",       "short",         "signed",      "sizeof",
      "static",       "static_assert", "static_cast", "struct",
      "switch",       "template",      "this",        "thread_local",
      "throw",        "true",          "try",         "typedef",
      "typeid",       "typename",      "union",       "unsigned",
      "using",        "virtual",       "void",        "volatile",
      "wchar_t",      "while",         "xor",         "reinterpret_cast"};
  return kKeywords.count(name) > 0;
}

absl::StatusOr<std::string> Names::add(const std::string& name) {
  const std::string c_name = sanitized(name);
  if (is_keyword(c_name)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what_, " '", name, "' would be called ", c_name, ", a word of C or C++"));
  }
  const auto [there, fresh] = originals_.emplace(c_name, name);
  if (!fresh) {
    return absl::InvalidArgumentError(absl::StrCat(what_, "s '", there->second, "' and '", name,
                                                   "' would both be called ", c_name));
  }
  return c_name;
}

absl::Status check_package_name(const std::string& name) {
  if (name.size() > kLongestPackageName || sanitized(name) != name || is_keyword(name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the package name is '", name, "', must be letters, digits and single underscores, ",
        "begin with a letter, be no word of C or C++ and have at most ", kLongestPackageName,
        " characters"));
  }
  return absl::OkStatus();
}

std::string in_capitals(absl::string_view name) { return absl::AsciiStrToUpper(name); }

}  // namespace petrel::exir::emit_c
