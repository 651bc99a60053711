// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/new_app.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace petrel::extension {
namespace {

// @PREFIX@ is petrel/ in the SDK, and nothing in Petrel's tree.
constexpr char kApp[] = R"(// Runs method forward of a program on ones:
//
//   NAME MODEL.pte [WEIGHTS.ptd ...]
#include <cstdio>
#include <vector>

#include "@PREFIX@extension/module/module.h"
#include "@PREFIX@extension/tensor/filled.h"

using petrel::extension::Module;
using petrel::extension::TensorPtr;

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: NAME MODEL.pte [WEIGHTS.ptd ...]\n"), 2;
  Module::Options options;
  options.data_files.assign(argv + 2, argv + argc);
  const auto module = Module::load(argv[1], options);
  if (!module.ok()) return 1;  // the runtime has said why
  const auto meta = (*module)->method_meta("forward");
  if (!meta.ok()) return 1;

  // Tensors must stay until the call; values only refer to them.
  std::vector<TensorPtr> tensors;
  std::vector<petrel::runtime::EValue> inputs;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) return 1;
    tensors.push_back(petrel::extension::ones({info->sizes().begin(), info->sizes().end()},
                                              info->scalar_type()));
    inputs.emplace_back(tensors.back());
  }

  const auto outputs = (*module)->forward(inputs);
  if (!outputs.ok()) return 1;
  for (const petrel::runtime::EValue& output : *outputs) {
    if (!output.isTensor()) continue;
    const petrel::runtime::Tensor tensor = output.toTensor();
    std::printf("%zu elements of type %s", tensor.numel(),
                petrel::runtime::to_string(tensor.scalar_type()));
    if (tensor.scalar_type() == petrel::runtime::ScalarType::Float && tensor.numel() > 0) {
      std::printf(", the first is %f", static_cast<double>(tensor.const_data_ptr<float>()[0]));
    }
    std::printf("\n");
  }
  return 0;
}
)";

constexpr char kCMake[] =
    R"(# cmake -S . -B build -DCMAKE_PREFIX_PATH=/FOLDER/OF/THE/SDK && cmake --build build
cmake_minimum_required(VERSION 3.13)
project(NAME CXX)

find_package(petrel REQUIRED COMPONENTS module kernels xnnpack)

# The kernels and backends that the app's programs may use.
petrel_add_registry(NAME_registry KERNELS optimized portable BACKENDS xnnpack)

add_executable(NAME NAME.cc)
target_link_libraries(NAME PRIVATE petrel::module NAME_registry)
)";

constexpr char kBuild[] = R"(# @BAZEL@ run //NAME -- "$PWD/MODEL.pte"
load("@petrel//runtime:registry.bzl", "petrel_registry")
load("@rules_cc//cc:defs.bzl", "cc_binary")

cc_binary(
    name = "NAME",
    srcs = ["NAME.cc"],
    deps = [
        ":registry",
        "@petrel//:module",
        "@petrel//extension/tensor",
    ],
)

# The kernels and backends that the app's programs may use.
petrel_registry(
    name = "registry",
    backends = ["@petrel//backends/xnnpack/runtime"],
    kernels = [
        "@petrel//runtime/kernels/optimized:kernels",
        "@petrel//runtime/kernels/portable:kernels",
    ],
)
)";

absl::Status check_name(const std::string& name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
  if (!is_plain || name.empty() || !absl::ascii_islower(name[0])) {
    return absl::InvalidArgumentError(absl::StrCat("an app cannot be called '", name,
                                                   "': lower case letters, digits and '_' only"));
  }
  // Targets of CMake, and the repository of Bazel.
  static constexpr const char* kTaken[] = {"petrel",  "registry",   "test",         "all",
                                           "help",    "install",    "preinstall",   "clean",
                                           "package", "edit_cache", "rebuild_cache"};
  if (std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken)) {
    return absl::InvalidArgumentError(
        absl::StrCat("an app cannot be called '", name, "', which is another target's name"));
  }
  return absl::OkStatus();
}

std::string named(const char* text, const std::string& name, const char* prefix) {
  return absl::StrReplaceAll(text, {{"NAME", name}, {"@PREFIX@", prefix}});
}

}  // namespace

absl::StatusOr<std::vector<SkeletonFile>> new_app_for_cmake(const std::string& name) {
  if (const absl::Status status = check_name(name); !status.ok()) return status;
  return std::vector<SkeletonFile>{{name + ".cc", named(kApp, name, "petrel/")},
                                   {"CMakeLists.txt", named(kCMake, name, "")}};
}

absl::StatusOr<std::vector<SkeletonFile>> new_app_for_bazel(const std::string& name,
                                                            const PetrelFolder& petrel) {
  if (const absl::Status status = check_name(name); !status.ok()) return status;
  absl::StatusOr<std::vector<SkeletonFile>> files = own_workspace(name, petrel);
  if (!files.ok()) return files;
  const std::string folder = name + "/";
  files->push_back({folder + name + ".cc", named(kApp, name, "")});
  files->push_back({folder + "BUILD.bazel",
                    absl::StrReplaceAll(named(kBuild, name, ""),
                                        {{"@BAZEL@", petrel.is_sdk ? "bazel" : "./bazelw"}})});
  return files;
}

}  // namespace petrel::extension
