// SPDX-License-Identifier: Apache-2.0
//
// Any JSON as the model of an archive: imported, compiled with kernels alone or with
// XNNPACK, written, and what was written loaded and run. The input is
//
//   model.json  0x1e  model_weights_config.json  0x1e  model_constants_config.json
//
// in an archive whose checksums are right and whose weights have enough bytes; or,
// when it begins with "PK", a whole archive.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/driver/export.h"
#include "runtime/executor/registry.h"
#include "test/fuzz/json_mutator.h"
#include "test/fuzz/memory_file.h"
#include "test/fuzz/program_run.h"
#include "test/fuzz/zip_file.h"

namespace petrel::fuzz {
namespace {

constexpr char kSeparator = '\x1e';
constexpr int kWeights = 4;
constexpr size_t kWeightBytes = 2048;

std::string archive_of(const std::string& input) {
  if (input.compare(0, 2, "PK") == 0) return input;
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= input.size();) {
    const size_t end = std::min(input.find(kSeparator, begin), input.size());
    parts.push_back(input.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.resize(3, "{\"config\": {}}");
  std::vector<ZipMember> members = {
      {"m/archive_format", "pt2"},
      {"m/archive_version", "0"},
      {"m/models/model.json", parts[0]},
      {"m/data/weights/model_weights_config.json", parts[1]},
      {"m/data/constants/model_constants_config.json", parts[2]},
  };
  for (int i = 0; i < kWeights; ++i) {
    members.push_back({"m/data/weights/weight_" + std::to_string(i), std::string(kWeightBytes, 0)});
    members.push_back({"m/data/constants/tensor_" + std::to_string(i), std::string(256, 1)});
  }
  return write_zip_file(members);
}

// A folder of this process that is gone when it ends.
const std::string& folder() {
  static const std::string* const path = [] {
    const char* const parent = std::getenv("TEST_TMPDIR");
    auto* name = new std::string((parent != nullptr ? std::string(parent) : "/dev/shm") + "/pt2_" +
                                 std::to_string(::getpid()));
    std::filesystem::create_directory(*name);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return name;
  }();
  return *path;
}

void run(const std::string& input) {
  static MemoryFile file;
  const std::string archive = archive_of(input);
  exir::ExportOptions options;
  options.methods["forward"] = file.write(archive.data(), archive.size());
  options.output = folder() + "/m.pte";
  options.planning.node_budget = 1000;
  // Both ways take turns, decided by the input alone.
  if (input.size() % 2 != 0) {
    options.backends.for_all = {{backends::xnnpack::aot::xnnpack_backend()}};
  }
  const auto report = exir::export_program(options);
  if (!report.ok()) {
    require(!absl::IsInternal(report.status()), "a compiler that contradicts itself");
    require(!report.status().message().empty(), "an error that nobody explains");
    return;
  }
  std::ifstream written(options.output, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(written), {}};
  const std::vector<uint8_t> bytes(chars.begin(), chars.end());
  const runtime::Limits limits = small_limits();
  const ProgramResult result =
      run_program(bytes.data(), bytes.size(), runtime::default_registry(), limits);
  require(result.load == runtime::Error::Ok || result.load == runtime::Error::OutOfResources,
          "a program that was exported and cannot be loaded");
}

}  // namespace
}  // namespace petrel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  petrel::fuzz::run(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return petrel::fuzz::mutate_json(data, size, max_size, seed);
}
