// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/new_backend_verb.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "extension/cli/new_backend.h"
#include "extension/cli/own_workspace.h"
#include "extension/cli/skeleton_file.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string name;
  std::string folder;
  std::string root;
  std::string workspace;
  std::string petrel;
};

int failed(const std::string& what) {
  std::fprintf(stderr, "petrel new-backend: %s\n", what.c_str());
  return kFailed;
}

int run_in_tree(const Arguments& arguments) {
  const std::string folder =
      arguments.folder.empty() ? "backends/" + arguments.name : arguments.folder;
  const auto files = new_backend(arguments.name, folder);
  if (!files.ok()) return failed(std::string(files.status().message()));
  const fs::path target = fs::path(arguments.root) / folder;
  const std::string wrong = write_skeleton(target, *files);
  if (!wrong.empty()) return failed(wrong);
  std::printf("%zu files in %s; its tests: bazel test //%s/...\n", files->size(),
              target.string().c_str(), folder.c_str());
  return kDone;
}

int run_outside(const Arguments& arguments) {
  const auto petrel = find_petrel(arguments.petrel);
  if (!petrel.ok()) return failed(std::string(petrel.status().message()));
  const auto files = new_backend_workspace(arguments.name, *petrel);
  if (!files.ok()) return failed(std::string(files.status().message()));
  const fs::path target = fs::path(arguments.root) / arguments.workspace;
  const std::string wrong = write_skeleton(target, *files);
  if (!wrong.empty()) return failed(wrong);
  std::printf("%zu files in %s; its tests: %s test //%s/...\n", files->size(),
              target.string().c_str(), bazel_in(target.string(), *petrel).c_str(),
              arguments.name.c_str());
  return kDone;
}

}  // namespace

void add_new_backend_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  // `bazel run` starts elsewhere.
  const char* const workspace = std::getenv("BUILD_WORKING_DIRECTORY");
  arguments->root = workspace == nullptr ? "." : workspace;
  const char* const tree = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  arguments->petrel = tree == nullptr ? "" : tree;
  CLI::App* verb =
      app.add_subcommand("new-backend", "Write the skeleton of a backend, with tests that pass");
  verb->add_option("name", arguments->name, "of the backend, such as my_accelerator")->required();
  CLI::Option* folder =
      verb->add_option("--folder", arguments->folder,
                       "where in the workspace, not there yet; backends/NAME if not given");
  verb->add_option("--root", arguments->root, "the folder of the workspace");
  CLI::Option* outside = verb->add_option(
      "--workspace", arguments->workspace,
      "a folder outside of Petrel's tree, not there yet: a workspace of its own for the backend");
  outside->excludes(folder);
  verb->add_option("--petrel", arguments->petrel,
                   "Petrel's tree or the SDK, for --workspace; the SDK that has this command if "
                   "not given")
      ->needs(outside);
  verb->footer(
      "Writes a backend that adds and multiplies, its tests, a fixture for the conformance suite\n"
      "and a command that links it. docs/backend.md goes on from there.\n"
      "\n"
      "Examples:\n"
      "  petrel new-backend mine\n"
      "  petrel new-backend mine --folder examples/mine\n"
      "  petrel new-backend mine --workspace ~/mine --petrel ~/petrel");
  verb->callback([arguments, exit_code] {
    *exit_code = arguments->workspace.empty() ? run_in_tree(*arguments) : run_outside(*arguments);
  });
}

}  // namespace petrel::extension
