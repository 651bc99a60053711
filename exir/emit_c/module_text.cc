// SPDX-License-Identifier: Apache-2.0
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "exir/emit_c/emit_c.h"
#include "exir/emit_c/module_levels.h"
#include "exir/emit_c/sources.h"

namespace petrel::exir::emit_c {
namespace {

constexpr size_t kBytesPerLine = 24;

constexpr char kHas[] =
    R"(static int has(unsigned int first, unsigned int seventh, unsigned int saved) {
  unsigned int a = 0, b = 0, c = 0, d = 0, low = 0, high = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & first) != first) return 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & saved) != saved) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & seventh) == seventh;
}

)";

uint32_t word_of(std::initializer_list<int> bits) {
  uint32_t word = 0;
  for (const int bit : bits) word |= uint32_t{1} << bit;
  return word;
}

std::string word_text(uint32_t word) { return absl::StrCat("0x", absl::Hex(word), "u"); }

// "1,2,3", in lines.
std::string byte_list(absl::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char* const before = i == 0 ? "" : i % kBytesPerLine == 0 ? ",\n    " : ",";
    absl::StrAppend(&text, before, static_cast<int>(static_cast<unsigned char>(bytes[i])));
  }
  return text;
}

bool is_word(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// What a header of the package calls NAME_WORD( : its functions, and what comments say of them.
void add_functions(const std::string& name, absl::string_view header,
                   std::set<std::string>* functions) {
  const std::string prefix = name + "_";
  for (size_t at = header.find(prefix); at != absl::string_view::npos;
       at = header.find(prefix, at + 1)) {
    size_t end = at;
    while (end < header.size() && is_word(header[end])) ++end;
    const bool is_begin = at == 0 || !is_word(header[at - 1]);
    if (is_begin && end < header.size() && header[end] == '(') {
      functions->emplace(header.substr(at, end - at));
    }
  }
}

// Whether `source` has "function(...) {".
bool defines(absl::string_view source, const std::string& function) {
  const std::string begin = function + "(";
  for (size_t at = source.find(begin); at != absl::string_view::npos;
       at = source.find(begin, at + 1)) {
    const size_t close = source.find(')', at);
    if (close != absl::string_view::npos && absl::StartsWith(source.substr(close), ") {")) {
      return true;
    }
  }
  return false;
}

// "petrel_avx2_kws_run": no name of a package begins with petrel_.
std::string renamed_for(const ModuleLevel& level, const std::string& function) {
  return absl::StrCat("petrel_", level.name, "_", function);
}

// The functions of the parameters, which are there once, keep their names.
std::string level_text(const std::string& name, const std::vector<CFile>& files,
                       const ModuleLevel& level) {
  std::set<std::string> functions;
  absl::string_view parameters;
  for (const CFile& file : files) {
    if (file.name == name + "_params.c") parameters = file.text;
    if (file.name == name + ".h" || file.name == name + "_params.h") {
      add_functions(name, file.text, &functions);
    }
  }
  std::string text;
  for (const std::string& function : functions) {
    if (defines(parameters, function)) continue;
    absl::StrAppend(&text, "#define ", function, " ", renamed_for(level, function), "\n");
  }
  return text;
}

// Tries the levels from the highest down.
std::string choice_text(const std::string& name, absl::Span<const ModuleLevel> levels) {
  std::string declared, choices;
  const std::string get = name + "_get_model_metadata";
  for (const ModuleLevel& level : levels) {
    absl::StrAppend(&declared, "const struct petrel_model_metadata *", renamed_for(level, get),
                    "(void);\n");
    choices = absl::StrCat("  if (most >= PETREL_MODULE_LEVEL_", absl::AsciiStrToUpper(level.name),
                           " && has(", word_text(level.first), ", ", word_text(level.seventh), ", ",
                           word_text(level.saved), ") != 0) {\n    return ",
                           renamed_for(level, get), "();\n  }\n", choices);
  }
  const std::string signature =
      "const struct petrel_model_metadata *petrel_compiled_model(uint32_t most)";
  return absl::StrCat(declared, levels.empty() ? "" : kHas,
                      "__attribute__((visibility(\"default\")))\n", signature, ";\n", signature,
                      " {\n  /* Linkers that drop what nothing refers to keep the header. */\n"
                      "  __asm__ volatile(\"\" : : \"r\"(&",
                      name, "_module));\n", levels.empty() ? "  (void)most;\n" : "", choices,
                      "  return ", get, "();\n}\n");
}

}  // namespace

absl::Span<const ModuleLevel> module_levels() {
  static const auto* const kLevels = [] {
    ModuleLevel avx2 = {"avx2", {"-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2"}, 0, 0, 0};
    avx2.first = word_of({12, 27, 28, 29});  // fma, xgetbv, avx, f16c
    avx2.seventh = word_of({3, 5, 8});       // bmi, avx2, bmi2
    avx2.saved = word_of({1, 2});            // XMM, YMM
    ModuleLevel avx512 = avx2;
    avx512.name = "avx512";
    for (const char* feature : {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"}) {
      avx512.flags.push_back(absl::StrCat("-m", feature));
    }
    avx512.seventh |= word_of({16, 17, 28, 30, 31});
    avx512.saved |= word_of({5, 6, 7});  // masks, ZMM
    return new std::vector<ModuleLevel>{avx2, avx512};
  }();
  return *kLevels;
}

std::string level_header(const std::string& name, const ModuleLevel& level) {
  return absl::StrCat(name, "_", level.name, ".h");
}

std::vector<CFile> module_files(const std::string& name, const std::vector<CFile>& files,
                                absl::Span<const ModuleLevel> levels) {
  std::string manifest;
  for (const CFile& file : files) {
    if (file.name == "manifest.json") manifest = file.text;
  }
  const Sha256 sha256 = sha256_of_sources(name, files);
  const absl::string_view digest(reinterpret_cast<const char*>(sha256.data()), sha256.size());
  const std::string text =
      absl::StrCat(levels.empty() ? "" : "#include <cpuid.h>\n\n", "#include \"", name,
                   ".h\"\n\n#include \"petrel_model.h\"\n#include \"petrel_module.h\"\n\n",
                   "static const struct {\n  struct petrel_module_header header;\n",
                   "  unsigned char manifest[", manifest.size(), "];\n} ", name,
                   "_module __attribute__((section(PETREL_MODULE_SECTION), used)) = {\n",
                   "    {PETREL_MODULE_MAGIC, PETREL_MODEL_ABI_VERSION, ", manifest.size(),
                   "u, 0u,\n    {", byte_list(digest), "},\n    {0}},\n    {", byte_list(manifest),
                   "}};\n\n", choice_text(name, levels));
  std::vector<CFile> made = {
      {name + "_module.c", text},
      {"petrel_module.h", std::string(find_source("model/petrel_module.h")->text)}};
  for (const ModuleLevel& level : levels) {
    made.push_back({level_header(name, level), level_text(name, files, level)});
  }
  return made;
}

}  // namespace petrel::exir::emit_c
