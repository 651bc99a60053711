// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/new_backend.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "exir/emit_c/names.h"

namespace petrel::extension {
namespace {

constexpr char kFixture[] = "backends/null/fixture.cc.in";
constexpr char kOriginal[] = "backends/null/";

bool is_word(char c) { return absl::ascii_isalnum(c) || c == '_'; }

absl::Status check_name(const std::string& name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
  if (!is_plain || name.empty() || !absl::ascii_islower(name[0])) {
    return absl::InvalidArgumentError(absl::StrCat("a backend cannot be called '", name,
                                                   "': lower case letters, digits and '_' only"));
  }
  // Its code is in a namespace of that name, where these would mean other things than elsewhere.
  static constexpr const char* kOthers[] = {"absl", "exir", "runtime", "std", "testing", "xnnpack"};
  if (exir::emit_c::is_taken(name) ||
      std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a backend cannot be called '", name, "', which is a word of C++ or another namespace"));
  }
  return absl::OkStatus();
}

absl::Status check_folder(const std::string& folder) {
  const std::vector<std::string> parts = absl::StrSplit(folder, '/');
  for (const std::string& part : parts) {
    const bool is_plain = std::all_of(part.begin(), part.end(), is_word);
    if (part.empty() || !is_plain) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", folder, "' must be a folder from the root of the workspace, such as backends/mine, ",
          "of letters, digits and '_'"));
    }
  }
  return absl::OkStatus();
}

// "my_backend" as "MyBackend".
std::string camel_case(const std::string& name) {
  std::string text;
  const std::vector<std::string> parts = absl::StrSplit(name, '_');
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    text += absl::ascii_toupper(part[0]);
    text += part.substr(1);
  }
  return text;
}

// "null 1" and "null backend", where null is a word and no value of a language.
std::string rename_word(const std::string& text, const std::string& name) {
  constexpr absl::string_view kWord = "null ";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const bool starts = text.compare(i, kWord.size(), kWord.data()) == 0 &&
                        (i == 0 || !is_word(text[i - 1])) && i + kWord.size() < text.size();
    const char next = starts ? text[i + kWord.size()] : ' ';
    if (next == 'b' || absl::ascii_isdigit(next)) {
      out += name;
      i += kWord.size() - 1;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string renamed(const std::string& text, const std::string& name, const std::string& folder) {
  const std::string guard = absl::StrReplaceAll(absl::AsciiStrToUpper(folder), {{"/", "_"}});
  const std::string camel = camel_case(name);
  return rename_word(
      absl::StrReplaceAll(
          text, {{"backends/null", folder},
                 {"backends::null", absl::StrCat("backends::", name)},
                 {"BACKENDS_NULL", guard},
                 {"NULL_BACKEND", absl::AsciiStrToUpper(name) + "_BACKEND"},
                 {"null_backend", absl::StrCat(name, "_backend")},
                 {"NullBackend", camel + "Backend"},
                 {"NullPartitioner", camel + "Partitioner"},
                 {"//test:__subpackages__", absl::StrCat("//", folder, ":__subpackages__")}}),
      name);
}

// Without the target that lists the files for this command.
std::string without_list(std::string text) {
  const size_t begin = text.find("# What `petrel new-backend`");
  if (begin == std::string::npos) return text;
  constexpr absl::string_view kEnd = "\n)\n\n";
  return text.erase(begin, text.find(kEnd.data(), begin) + kEnd.size() - begin);
}

// Labels as another workspace writes them, all but the backend's own.
std::string with_repository(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> labels;
  for (const char* own : {"backends/null", "FOLDER", "visibility", "test:__subpackages__"}) {
    labels.emplace_back(absl::StrCat("\"//", own), absl::StrCat("\"//", own));
  }
  labels.emplace_back("\"//", "\"@petrel//");
  // Names that lead to the SDK's where it is Petrel.
  labels.emplace_back("\"@abseil//", "\"@petrel//third_party/abseil");
  labels.emplace_back("\"@googletest//", "\"@petrel//third_party/googletest");
  return absl::StrReplaceAll(text, labels);
}

// The command with this backend, and the suite.
constexpr char kRootBuild[] = R"(# SPDX-License-Identifier: Apache-2.0
load("@rules_cc//cc:defs.bzl", "cc_library")
load("//extension/cli:petrel_cli.bzl", "petrel_cli")
load("//test/conformance:conformance.bzl", "petrel_conformance_test")

petrel_cli(
    name = "petrel",
    backends = [
        "//backends/xnnpack",
        "//FOLDER=NAME",
    ],
)

cc_library(
    name = "fixture",
    testonly = True,
    srcs = ["fixture.cc"],
    alwayslink = True,
    deps = [
        "//FOLDER/aot",
        "//FOLDER/runtime",
        "//test/conformance:fixture",
    ],
)

petrel_conformance_test(
    name = "conformance_test",
    fixture = ":fixture",
)
)";

absl::StatusOr<std::vector<SkeletonFile>> skeleton_as(const std::string& name,
                                                      const std::string& folder, bool outside) {
  if (const absl::Status status = check_name(name); !status.ok()) return status;
  if (const absl::Status status = check_folder(folder); !status.ok()) return status;
  const auto labels = [&](const std::string& text) {
    return outside ? with_repository(text) : text;
  };
  std::vector<SkeletonFile> files = {
      {"BUILD.bazel",
       absl::StrReplaceAll(labels(kRootBuild), {{"FOLDER", folder}, {"NAME", name}})}};
  for (const SkeletonFile& file : skeleton()) {
    absl::string_view path = file.path;
    absl::ConsumePrefix(&path, kOriginal);
    std::string to = absl::StrReplaceAll(path, {{"null_backend", name + "_backend"}});
    if (file.path == kFixture) to = "fixture.cc";
    const bool is_build = absl::EndsWith(path, "BUILD.bazel");
    const std::string text = without_list(file.text);
    files.push_back({std::move(to), renamed(is_build ? labels(text) : text, name, folder)});
  }
  return files;
}

}  // namespace

absl::StatusOr<std::vector<SkeletonFile>> new_backend(const std::string& name,
                                                      const std::string& folder) {
  return skeleton_as(name, folder, /*outside=*/false);
}

absl::StatusOr<std::vector<SkeletonFile>> new_backend_workspace(const std::string& name,
                                                                const PetrelFolder& petrel) {
  absl::StatusOr<std::vector<SkeletonFile>> workspace = own_workspace(name, petrel);
  if (!workspace.ok()) return workspace;
  absl::StatusOr<std::vector<SkeletonFile>> files = skeleton_as(name, name, /*outside=*/true);
  if (!files.ok()) return files;
  for (SkeletonFile& file : *files) file.path = absl::StrCat(name, "/", file.path);
  for (SkeletonFile& file : *workspace) files->push_back(std::move(file));
  return files;
}

}  // namespace petrel::extension
