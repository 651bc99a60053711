// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/new_app_verb.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "extension/cli/new_app.h"
#include "extension/cli/own_workspace.h"
#include "extension/cli/skeleton_file.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string name;
  std::string build = "cmake";
  std::string output;
  std::string root;
  std::string petrel;
};

int failed(const std::string& what) {
  std::fprintf(stderr, "petrel new-app: %s\n", what.c_str());
  return kFailed;
}

int run(const Arguments& arguments) {
  const bool is_bazel = arguments.build == "bazel";
  PetrelFolder petrel;
  if (is_bazel) {
    const auto found = find_petrel(arguments.petrel);
    if (!found.ok()) return failed(std::string(found.status().message()));
    petrel = *found;
  }
  const auto files =
      is_bazel ? new_app_for_bazel(arguments.name, petrel) : new_app_for_cmake(arguments.name);
  if (!files.ok()) return failed(std::string(files.status().message()));
  const fs::path target =
      fs::path(arguments.root) / (arguments.output.empty() ? arguments.name : arguments.output);
  const std::string wrong = write_skeleton(target, *files);
  if (!wrong.empty()) return failed(wrong);
  const std::string at = target.string();
  std::printf("%zu files in %s; build it with ", files->size(), at.c_str());
  if (is_bazel) {
    std::printf("%s build //%s\n", bazel_in(at, petrel).c_str(), arguments.name.c_str());
  } else {
    std::printf(
        "cmake -S %s -B %s/build -DCMAKE_PREFIX_PATH=/FOLDER/OF/THE/SDK && "
        "cmake --build %s/build\n",
        at.c_str(), at.c_str(), at.c_str());
  }
  return kDone;
}

}  // namespace

void add_new_app_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  // `bazel run` starts elsewhere.
  const char* const workspace = std::getenv("BUILD_WORKING_DIRECTORY");
  arguments->root = workspace == nullptr ? "." : workspace;
  const char* const tree = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  arguments->petrel = tree == nullptr ? "" : tree;
  CLI::App* verb = app.add_subcommand("new-app", "Write an app to start from, and what builds it");
  verb->add_option("name", arguments->name, "of the app, such as my_app")->required();
  verb->add_option("--build", arguments->build,
                   "cmake, with the SDK, or bazel, with it or Petrel's tree")
      ->check(CLI::IsMember({"cmake", "bazel"}))
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->output, "a folder, not there yet; NAME if not given");
  verb->add_option("--petrel", arguments->petrel,
                   "Petrel's tree or the SDK, for --build bazel; the SDK that has this command if "
                   "not given");
  verb->footer(
      "The app runs a program on ones, and prints what comes out. docs/sdk.md goes on from there.\n"
      "\n"
      "Examples:\n"
      "  petrel new-app mine\n"
      "  petrel new-app mine --build bazel --petrel ~/petrel -o ~/mine");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
