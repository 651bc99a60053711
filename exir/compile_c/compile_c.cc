// SPDX-License-Identifier: Apache-2.0
#include "exir/compile_c/compile_c.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "exir/compile_c/run_compiler.h"
#include "exir/compile_c/seal.h"
#include "exir/emit_c/module_levels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

namespace fs = std::filesystem;

// Without traps comparisons become parts of vectors; no result changes.
constexpr const char* kFlags[] = {"-std=c99", "-O3", "-fno-trapping-math", "-fPIC",
                                  "-fvisibility=hidden"};

// A folder that goes with the object.
class Folder {
 public:
  static absl::StatusOr<Folder> make() {
    std::error_code failed;
    std::string path = (fs::temp_directory_path(failed) / "petrel_c_XXXXXX").string();
    if (failed || mkdtemp(path.data()) == nullptr) {
      return absl::PermissionDeniedError(
          absl::StrCat("folder '", path, "' cannot be made; TMPDIR names another place"));
    }
    return Folder(std::move(path));
  }
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  absl::Status write(const emit_c::CFile& file) const {
    std::ofstream out(fs::path(path_) / file.name, std::ios::binary);
    const absl::Status status = file.write([&](absl::Span<const uint8_t> bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
      return out ? absl::OkStatus() : absl::ResourceExhaustedError("");
    });
    out.close();
    if (out && status.ok()) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat("'", path_, "/", file.name,
                                                     "' cannot be written, it has ", file.size(),
                                                     " bytes; TMPDIR names another place"));
  }

  std::string read(const std::string& name) const {
    std::ifstream in(fs::path(path_) / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  const std::string& path() const { return path_; }

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

std::vector<std::string> compiler_words() {
  const char* const given = std::getenv("CC");
  std::vector<std::string> words =
      absl::StrSplit(given == nullptr ? "" : given, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.empty()) words.push_back("cc");
  return words;
}

// Writes the files that a compiler reads to the folder, and names its sources: not those that
// an application may link besides.
absl::Status add_files(const Folder& folder, const std::string& name,
                       const std::vector<emit_c::CFile>& files, std::vector<std::string>* words) {
  for (const emit_c::CFile& file : files) {
    const bool is_besides = file.name == name + "_selftest.c" || file.name == name + "_memory.c";
    const bool is_code = absl::EndsWith(file.name, ".c") || absl::EndsWith(file.name, ".S");
    const bool is_source = (is_code && !is_besides) || absl::EndsWith(file.name, ".a");
    const bool is_included = absl::EndsWith(file.name, ".h") || absl::EndsWith(file.name, ".bin");
    if (!is_source && !is_included) continue;
    PETREL_RETURN_IF_ERROR(folder.write(file));
    // Archives are behind what calls their functions.
    if (is_source) words->push_back(file.name);
  }
  const auto archives = [](const std::string& word) { return !absl::EndsWith(word, ".a"); };
  std::stable_partition(words->begin(), words->end(), archives);
  return absl::OkStatus();
}

// The compiler with the flags that all results need.
std::vector<std::string> command(Contraction contraction, std::initializer_list<const char*> more) {
  std::vector<std::string> words = compiler_words();
  words.insert(words.end(), std::begin(kFlags), std::end(kFlags));
  words.emplace_back(contraction == Contraction::kFused ? "-ffp-contract=fast"
                                                        : "-ffp-contract=off");
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// "-I/home/me/include" of "-Iinclude": the compiler runs elsewhere.
std::string with_whole_path(const std::string& flag) {
  std::error_code failed;
  if (!absl::StartsWith(flag, "-I") || flag.size() == 2) return flag;
  const fs::path whole = fs::absolute(flag.substr(2), failed);
  return failed ? flag : "-I" + whole.string();
}

// Whether the compiler makes code for x86-64, and is not told for which processors.
bool leaves_level_open(const Folder& folder) {
  std::vector<std::string> words = compiler_words();
  for (const std::string& word : words) {
    if (absl::StartsWith(word, "-m") && word != "-m64") return false;
  }
  words.emplace_back("-dumpmachine");
  return absl::StartsWith(ask_compiler(words, folder.path()), "x86_64-");
}

// Compiles the code and the metadata for each level beside those of the least processor, all at
// the same time: `words` names their objects then.
absl::Status compile_levels(const Folder& folder, const std::string& name, Contraction contraction,
                            absl::Span<const emit_c::ModuleLevel> levels,
                            std::vector<std::string>* words) {
  if (levels.empty()) return absl::OkStatus();
  const auto code = std::find(words->begin(), words->end(), name + ".c");
  *code = name + ".o";
  std::vector<std::vector<std::string>> commands = {
      command(contraction, {"-c", (name + ".c").c_str(), "-o", code->c_str()})};
  for (const emit_c::ModuleLevel& level : levels) {
    for (const char* part : {"", "_metadata"}) {
      const std::string object = absl::StrCat(name, part, "_", level.name, ".o");
      std::vector<std::string> one = command(contraction, {"-c", "-include"});
      one.push_back(emit_c::level_header(name, level));
      one.insert(one.end(), level.flags.begin(), level.flags.end());
      one.insert(one.end(), {absl::StrCat(name, part, ".c"), "-o", object});
      commands.push_back(std::move(one));
      words->push_back(object);
    }
  }
  return run_compilers(commands, folder.path());
}

// Compiles the kernels of the user with flags of their own: `words` names their objects then.
absl::Status compile_kernels(const Folder& folder, const std::string& name,
                             const CompileOptions& options, std::vector<std::string>* words) {
  if (options.kernel_flags.empty()) return absl::OkStatus();
  for (std::string& word : *words) {
    const bool is_code = absl::EndsWith(word, ".c") || absl::EndsWith(word, ".S");
    if (!is_code || !absl::StartsWith(word, name + "_kernel_")) continue;
    std::vector<std::string> alone = command(options.contraction, {"-c"});
    for (const std::string& flag : options.kernel_flags) alone.push_back(with_whole_path(flag));
    const std::string object = word + ".o";
    alone.insert(alone.end(), {word, "-o", object});
    PETREL_RETURN_IF_ERROR(run_compiler(alone, folder.path()));
    word = object;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<emit_c::CFile> compile_object(const std::string& name,
                                             const std::vector<emit_c::CFile>& files,
                                             const CompileOptions& options) {
  PETREL_ASSIGN_OR_RETURN(const Folder folder, Folder::make());
  emit_c::CFile made{absl::StrCat(name, ".o"), ""};
  std::vector<std::string> words = command(options.contraction, {"-r", "-nostdlib", "-o"});
  words.push_back(made.name);
  PETREL_RETURN_IF_ERROR(add_files(folder, name, files, &words));
  PETREL_RETURN_IF_ERROR(compile_kernels(folder, name, options, &words));
  PETREL_RETURN_IF_ERROR(run_compiler(words, folder.path()));
  made.text = folder.read(made.name);
  return made;
}

absl::StatusOr<emit_c::CFile> compile_library(const std::string& name,
                                              const std::vector<emit_c::CFile>& files,
                                              const CompileOptions& options) {
  PETREL_ASSIGN_OR_RETURN(const Folder folder, Folder::make());
  emit_c::CFile made{absl::StrCat("lib", name, ".so"), ""};
  // What nothing defines, as a kernel of the user that is only declared, is missed here and not
  // when the library is opened.
  std::vector<std::string> words =
      command(options.contraction, {"-shared", "-s", "-Wl,-z,defs", "-o"});
  words.push_back(made.name);
  const auto levels = options.has_levels && leaves_level_open(folder)
                          ? emit_c::module_levels()
                          : absl::Span<const emit_c::ModuleLevel>();
  PETREL_RETURN_IF_ERROR(add_files(folder, name, files, &words));
  const std::vector<emit_c::CFile> besides = emit_c::module_files(name, files, levels);
  PETREL_RETURN_IF_ERROR(add_files(folder, name, besides, &words));
  PETREL_RETURN_IF_ERROR(compile_kernels(folder, name, options, &words));
  PETREL_RETURN_IF_ERROR(compile_levels(folder, name, options.contraction, levels, &words));
  words.push_back("-lm");
  PETREL_RETURN_IF_ERROR(run_compiler(words, folder.path()));
  made.text = folder.read(made.name);
  PETREL_RETURN_IF_ERROR(seal(emit_c::sha256_of_sources(name, files), &made.text));
  return made;
}

}  // namespace petrel::exir
