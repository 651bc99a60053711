// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/kernel_library.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "exir/emit_c/plain_terms.h"
#include "exir/emit_c/sources.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

constexpr char kTokens[] = "kernels/tokens.h";

bool is_word(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Calls fn(word) for each identifier of `text`, and other(char) for what is between them.
template <typename Word, typename Other>
void split_words(absl::string_view text, Word word, Other other) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == i) {
      other(text[i++]);
    } else {
      word(text.substr(i, end - i));
      i = end;
    }
  }
}

const std::map<absl::string_view, const char*>& headers_by_word() {
  static const auto* const kHeaders = [] {
    auto* const all = new std::map<absl::string_view, const char*>;
    const auto add = [&](const char* header, absl::string_view words) {
      for (const absl::string_view word : absl::StrSplit(words, ' ')) (*all)[word] = header;
    };
    add("math.h",
        "INFINITY NAN ceil ceilf copysign copysignf fabs fabsf floor floorf fma fmaf fmod fmodf "
        "frexp frexpf isfinite isinf isnan ldexp ldexpf modf modff nearbyint nearbyintf rint rintf "
        "round roundf signbit sqrt sqrtf trunc truncf");
    add("stdbool.h", "bool false true");
    add("string.h", "memcmp memcpy memmove memset");
    return all;
  }();
  return *kHeaders;
}

}  // namespace

std::set<std::string> standard_includes(absl::string_view text) {
  std::set<std::string> includes;
  split_words(
      text,
      [&](absl::string_view word) {
        const auto found = headers_by_word().find(word);
        if (found != headers_by_word().end()) includes.insert(found->second);
      },
      [](char) {});
  return includes;
}

std::string with_words_replaced(absl::string_view text,
                                const std::map<std::string, std::string>& words) {
  std::string result;
  split_words(
      text,
      [&](absl::string_view word) {
        const auto found = words.find(std::string(word));
        absl::StrAppend(&result, found == words.end() ? word : found->second);
      },
      [&](char c) { result += c; });
  return result;
}

namespace {

std::set<std::string> words_of(absl::string_view text) {
  std::set<std::string> words;
  split_words(
      text, [&](absl::string_view word) { words.emplace(word); }, [](char) {});
  return words;
}

// A kernel with the sizes that it uses as its first parameters; tables of them are made anew
// in each call.
std::string with_parameters(const std::string& text, const std::vector<VaryingToken>& varying,
                            std::vector<std::string>* values) {
  const std::set<std::string> used = words_of(text);
  std::string parameters;
  for (const VaryingToken& token : varying) {
    if (used.count(token.parameter) == 0) continue;
    absl::StrAppend(&parameters, token.type, " ", token.parameter, ", ");
    values->push_back(absl::StrCat("(", token.type, ")(", token.value, ")"));
  }
  if (parameters.empty()) return text;
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::set<std::string> words = words_of(line);
    const bool varies = std::any_of(varying.begin(), varying.end(), [&](const auto& token) {
      return words.count(token.parameter) > 0;
    });
    lines.push_back(varies
                        ? absl::StrReplaceAll(line, {{"static const int32_t ", "const int32_t "}})
                        : std::string(line));
  }
  return absl::StrReplaceAll(absl::StrJoin(lines, "\n"),
                             {{"NAME(", absl::StrCat("NAME(", parameters)}});
}

// What stands for NAME, and for NAME_ROW and the like: functions that it calls, and macros.
std::map<std::string, std::string> names_in(absl::string_view text, const std::string& name) {
  std::map<std::string, std::string> names = {{"NAME", name}};
  for (const std::string& word : words_of(text)) {
    if (!absl::StartsWith(word, "NAME_")) continue;
    names[word] = absl::StrContains(text, absl::StrCat("#define ", word))
                      ? absl::StrCat(absl::AsciiStrToUpper(name), word.substr(4))
                      : absl::StrCat(name, "_of_", absl::AsciiStrToLower(word.substr(5)));
  }
  return names;
}

// A part of a kernel stands where the kernel includes it: its functions are called NAME_ROW and the
// like, and each kernel has its own.
bool is_part(absl::string_view path) {
  const Source* source = find_source(path);
  return source != nullptr && absl::StrContains(source->text, "NAME_");
}

}  // namespace

// Notes the includes that depend on the processor, each three lines of its own.
std::string KernelLibrary::without_conditional_includes(absl::string_view text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  std::string rest;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool is_block = i + 2 < lines.size() && absl::StartsWith(lines[i], "#if ") &&
                          absl::StartsWith(lines[i + 1], "#include <") && lines[i + 2] == "#endif";
    if (!is_block) {
      absl::StrAppend(&rest, lines[i], "\n");
      continue;
    }
    const std::string block =
        absl::StrJoin(lines.begin() + static_cast<std::ptrdiff_t>(i),
                      lines.begin() + static_cast<std::ptrdiff_t>(i) + 3, "\n");
    if (!absl::StrContains(conditional_includes_, block)) {
      absl::StrAppend(&conditional_includes_, block, "\n");
    }
    i += 2;
  }
  return rest;
}

// What is left of a source without its licence, guard and includes, which are noted.
absl::StatusOr<std::string> KernelLibrary::body_of(absl::string_view path) {
  const Source* source = find_source(path);
  if (source == nullptr) {
    return absl::InternalError(absl::StrCat("there is no source '", path, "' in runtime/micro"));
  }
  std::string body;
  int depth = 0;  // of conditions around a line
  const std::string text = without_conditional_includes(source->text);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool is_guard = absl::StrContains(line, "PETREL_RUNTIME_MICRO_");
    if (!is_guard && absl::StartsWith(line, "#if")) ++depth;
    if (!is_guard && absl::StartsWith(line, "#endif")) --depth;
    if (depth == 0 && absl::ConsumePrefix(&line, "#include <")) {
      includes_.insert(std::string(line.substr(0, line.find('>'))));
    } else if (absl::ConsumePrefix(&line, "#include \"runtime/micro/")) {
      const absl::string_view included = line.substr(0, line.find('"'));
      if (is_part(included)) {
        PETREL_ASSIGN_OR_RETURN(const std::string part, body_of(included));
        absl::StrAppend(&body, part, "\n");
      } else {
        PETREL_RETURN_IF_ERROR(need(included));
      }
    } else if (!is_guard && !absl::StartsWith(line, "/* SPDX")) {
      absl::StrAppend(&body, line, "\n");
    }
  }
  return std::string(absl::StripAsciiWhitespace(body));
}

absl::Status KernelLibrary::need(absl::string_view path) {
  if (path == kTokens || !needed_.insert(std::string(path)).second) return absl::OkStatus();
  PETREL_ASSIGN_OR_RETURN(const std::string body, body_of(path));
  absl::StrAppend(&text_, body, "\n\n");
  return absl::OkStatus();
}

// What stands for a name in capitals may call functions that the kernel does not include.
absl::Status KernelLibrary::need_functions_in(absl::string_view text) {
  absl::Status status;
  split_words(
      text,
      [&](absl::string_view word) {
        if (!absl::ConsumePrefix(&word, "petrel_")) return;
        for (const char* folder : {"math/", "kernels/"}) {
          const std::string path = absl::StrCat(folder, word, ".h");
          if (find_source(path) != nullptr) status.Update(need(path));
        }
      },
      [](char) {});
  return status;
}

absl::StatusOr<KernelFunction> KernelLibrary::add(const KernelCall& call) {
  PETREL_ASSIGN_OR_RETURN(const std::string body, body_of(call.source));
  KernelFunction function;
  const std::string text = with_parameters(with_plain_terms(with_words_replaced(body, call.tokens)),
                                           call.varying, &function.sizes);
  PETREL_RETURN_IF_ERROR(need_functions_in(text));
  const auto known = names_.find(text);
  if (known != names_.end()) {
    function.name = known->second;
    return function;
  }
  // Apart from the functions of numbers: petrel_tanh() is one.
  std::string name = absl::StrCat("petrel_kernel_", call.name);
  const int count = ++functions_by_name_[name];
  if (count > 1) absl::StrAppend(&name, "_", count);
  names_[text] = name;
  const std::string function_text =
      absl::StrReplaceAll(text, {{"static void NAME(", "PETREL_KERNEL static void NAME("},
                                 {"static int32_t NAME(", "PETREL_KERNEL static int32_t NAME("}});
  absl::StrAppend(&text_, with_words_replaced(function_text, names_in(function_text, name)),
                  "\n\n");
  function.name = std::move(name);
  return function;
}

}  // namespace petrel::exir::emit_c
