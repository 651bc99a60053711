// SPDX-License-Identifier: Apache-2.0
#include "exir/compile_c/compile_c.h"

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
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlags[] = {"-std=c99", "-O3", "-fPIC", "-fvisibility=hidden"};

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
    const bool is_source = is_code && !is_besides;
    const bool is_included = absl::EndsWith(file.name, ".h") || absl::EndsWith(file.name, ".bin");
    if (!is_source && !is_included) continue;
    PETREL_RETURN_IF_ERROR(folder.write(file));
    if (is_source) words->push_back(file.name);
  }
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

}  // namespace

absl::StatusOr<emit_c::CFile> compile_object(const std::string& name,
                                             const std::vector<emit_c::CFile>& files,
                                             Contraction contraction) {
  PETREL_ASSIGN_OR_RETURN(const Folder folder, Folder::make());
  emit_c::CFile made{absl::StrCat(name, ".o"), ""};
  std::vector<std::string> words = command(contraction, {"-r", "-nostdlib", "-o"});
  words.push_back(made.name);
  PETREL_RETURN_IF_ERROR(add_files(folder, name, files, &words));
  PETREL_RETURN_IF_ERROR(run_compiler(words, folder.path()));
  made.text = folder.read(made.name);
  return made;
}

absl::StatusOr<emit_c::CFile> compile_library(const std::string& name,
                                              const std::vector<emit_c::CFile>& files,
                                              Contraction contraction) {
  PETREL_ASSIGN_OR_RETURN(const Folder folder, Folder::make());
  emit_c::CFile made{absl::StrCat("lib", name, ".so"), ""};
  std::vector<std::string> words = command(contraction, {"-shared", "-s", "-o"});
  words.push_back(made.name);
  PETREL_RETURN_IF_ERROR(add_files(folder, name, files, &words));
  PETREL_RETURN_IF_ERROR(add_files(folder, name, emit_c::module_files(name, files), &words));
  words.push_back("-lm");
  PETREL_RETURN_IF_ERROR(run_compiler(words, folder.path()));
  made.text = folder.read(made.name);
  PETREL_RETURN_IF_ERROR(seal(emit_c::sha256_of_sources(name, files), &made.text));
  return made;
}

}  // namespace petrel::exir
