// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/new_backend_verb.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "extension/cli/new_backend.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string name;
  std::string folder;
  std::string root;
};

int failed(const std::string& what) {
  std::fprintf(stderr, "petrel new-backend: %s\n", what.c_str());
  return kFailed;
}

int run(const Arguments& arguments) {
  const std::string folder =
      arguments.folder.empty() ? "backends/" + arguments.name : arguments.folder;
  const auto files = new_backend(arguments.name, folder);
  if (!files.ok()) return failed(std::string(files.status().message()));
  const fs::path target = fs::path(arguments.root) / folder;
  std::error_code error;
  if (fs::exists(target, error)) return failed("'" + target.string() + "' is there already");
  for (const SkeletonFile& file : *files) {
    const fs::path path = target / file.path;
    fs::create_directories(path.parent_path(), error);
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    out.close();
    if (!out) return failed("'" + path.string() + "' cannot be written");
  }
  std::printf("%zu files in %s; its tests: bazel test //%s/...\n", files->size(),
              target.string().c_str(), folder.c_str());
  return kDone;
}

}  // namespace

void add_new_backend_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  // `bazel run` starts elsewhere.
  const char* const workspace = std::getenv("BUILD_WORKING_DIRECTORY");
  arguments->root = workspace == nullptr ? "." : workspace;
  CLI::App* verb =
      app.add_subcommand("new-backend", "Write the skeleton of a backend, with tests that pass");
  verb->add_option("name", arguments->name, "of the backend, such as my_accelerator")->required();
  verb->add_option("--folder", arguments->folder,
                   "where in the workspace, not there yet; backends/NAME if not given");
  verb->add_option("--root", arguments->root, "the folder of the workspace");
  verb->footer(
      "Writes a backend that adds and multiplies, its tests, a fixture for the conformance suite\n"
      "and a command that links it. docs/backend.md goes on from there.\n"
      "\n"
      "Examples:\n"
      "  petrel new-backend mine\n"
      "  petrel new-backend mine --folder examples/mine");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
