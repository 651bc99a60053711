// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/names.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace petrel::exir::emit_c {
namespace {

// Of external names C99 promises to tell 31 characters; linkers of today take any number,
// and a package name must leave room for what follows it.
constexpr size_t kLongestPackageName = 24;

// NAME.h would be found where one of these is meant.
constexpr char kHeaders[] =
    "assert complex ctype endian errno features fenv float inttypes iso646 limits locale "
    "malloc math memory petrel_board petrel_delegate petrel_frame petrel_model petrel_model_view "
    "petrel_plan petrel_rpc setjmp signal stdalign stdarg stdatomic stdbool "
    "stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time uchar "
    "unistd wchar "
    "wctype";

// Of C and C++, the newest ones included.
constexpr char kKeywords[] =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t char8_t class co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile "
    "wchar_t while xor xor_eq";

// Macros that are more than a prefix and a kind, and types.
constexpr char kTaken[] =
    "EOF HUGE_VAL HUGE_VALF HUGE_VALL INFINITY MATH_ERREXCEPT MATH_ERRNO NAN NULL SIZE_MAX "
    "BUFSIZ errno i386 linux math_errhandling stderr stdin stdout unix int8_t int16_t "
    "int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t uintptr_t";

bool is_among(absl::string_view name, absl::string_view words) {
  for (const absl::string_view word : absl::StrSplit(words, ' ')) {
    if (word == name) return true;
  }
  return false;
}

bool is_header(absl::string_view name) { return is_among(name, kHeaders); }

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

bool is_keyword(absl::string_view name) { return is_among(name, kKeywords); }

bool is_taken(absl::string_view name) {
  if (is_keyword(name) || is_among(name, kTaken)) return true;
  // INT32_MAX, UINTPTR_MAX, PTRDIFF_MIN, and M_PI and FP_NAN of math.h.
  if (absl::StartsWith(name, "M_") || absl::StartsWith(name, "FP_")) return true;
  const bool is_limit = absl::EndsWith(name, "_MAX") || absl::EndsWith(name, "_MIN") ||
                        absl::EndsWith(name, "_WIDTH") || absl::EndsWith(name, "_C");
  for (const char* kind : {"INT", "UINT", "PTRDIFF_", "SIG_ATOMIC_", "WCHAR_", "WINT_"}) {
    if (is_limit && absl::StartsWith(name, kind)) return true;
  }
  return false;
}

std::string Names::in_use(const std::string& c_name) const {
  return use_ == Use::kSymbol ? c_name : in_capitals(c_name);
}

absl::StatusOr<std::string> Names::add(const std::string& name) {
  std::string c_name = sanitized(name);
  if (use_ == Use::kMember && is_taken(c_name)) c_name += '_';
  const auto [there, fresh] = originals_.emplace(in_use(c_name), name);
  if (!fresh) {
    const std::string& other = there->second;
    const bool by_case = sanitized(other) != sanitized(name);
    return absl::InvalidArgumentError(
        absl::StrCat(what_, "s '", other, "' and '", name, "' would both be called ",
                     by_case ? in_use(c_name) : c_name, by_case ? " in macros" : ""));
  }
  return c_name;
}

std::string Names::add_again(const std::string& name) {
  for (int i = 1;; ++i) {
    std::string c_name = absl::StrCat(sanitized(name), "_", i);
    if (originals_.emplace(in_use(c_name), name).second) return c_name;
  }
}

absl::Status check_package_name(const std::string& name) {
  if (name.size() > kLongestPackageName || sanitized(name) != name || is_keyword(name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the package name is '", name, "', must be letters, digits and single underscores, ",
        "begin with a letter, be no word of C or C++ and have at most ", kLongestPackageName,
        " characters"));
  }
  if (is_header(absl::AsciiStrToLower(name))) {
    return absl::InvalidArgumentError(absl::StrCat("the package name is '", name, "', and ", name,
                                                   ".h would hide the header of that name"));
  }
  return absl::OkStatus();
}

absl::Status check_declared_once(absl::string_view header, absl::string_view file) {
  constexpr absl::string_view kDefine = "#define ";
  std::set<absl::string_view> names;
  int depth = 0;  // in the guard it is 1, and further in there are alternatives
  for (const absl::string_view line : absl::StrSplit(header, '\n')) {
    if (absl::StartsWith(line, "#if")) ++depth;
    if (absl::StartsWith(line, "#endif")) --depth;
    absl::string_view name;
    if (depth == 1 && absl::StartsWith(line, kDefine)) {
      name = line.substr(kDefine.size());
      name = name.substr(0, name.find_first_of(" ("));
    } else if (!line.empty() && absl::ascii_isalpha(static_cast<unsigned char>(line[0])) != 0 &&
               absl::StrContains(line, '(')) {
      name = line.substr(0, line.find('('));
      name = name.substr(name.find_last_of(" *") + 1);
    }
    if (name.empty() || names.insert(name).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file, " would have two things called ", name,
                     ": call a method, with --method, or an input or output otherwise"));
  }
  return absl::OkStatus();
}

std::string in_capitals(absl::string_view name) { return absl::AsciiStrToUpper(name); }

}  // namespace petrel::exir::emit_c
