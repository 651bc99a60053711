// SPDX-License-Identifier: Apache-2.0
//
// Loads methods one after the other into one process, where all of them stay, and
// tells how long each took and what the process has then:
//
//   load_times [--file | --memory] MODEL.pte:METHOD MODEL.pte+BASE.ptd+LORA.ptd:METHOD...
//
//   {"load": "model.pte:prefill", "ms": 31.5, "private_bytes": 5021696,
//    "peak_bytes": 6021696, "packed_bytes": 3401216, "not_packed_again": 0}
//
// Arguments with the same files are methods of one module. Files are mapped; with
// --file they are read, with --memory they are in memory before the clock starts.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/packed_weights.h"
#include "extension/data_loader/memory.h"
#include "extension/module/module.h"
#include "test/perf/process_memory.h"

namespace {

using namespace petrel;  // NOLINT: a measuring program
using extension::Module;
using test::told_by;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

class Loads {
 public:
  explicit Loads(const std::string& mode) : mode_(mode) {}

  bool load(const std::string& what) {
    const std::vector<std::string> parts = split(what, ':');
    if (parts.size() != 2) {
      std::fprintf(stderr, "'%s' is not FILES:METHOD\n", what.c_str());
      return false;
    }
    const std::vector<std::string> files = split(parts[0], '+');
    if (mode_ == "--memory") {
      for (const std::string& file : files) read(file);
    }
    const auto begin = std::chrono::steady_clock::now();
    std::unique_ptr<Module>& module = modules_[parts[0]];
    if (module == nullptr && !open(files, &module)) return false;
    if (module->load_method(parts[1]) != runtime::Error::Ok) return false;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    const auto stats = backends::xnnpack::PackedWeights::instance().stats();
    std::printf(
        "{\"load\": \"%s\", \"ms\": %.2f, \"private_bytes\": %zu, \"peak_bytes\": %zu, "
        "\"packed_bytes\": %zu, \"not_packed_again\": %llu}\n",
        what.c_str(), took.count(), told_by("smaps_rollup", {"Private_Clean:", "Private_Dirty:"}),
        told_by("status", {"VmHWM:"}), stats.bytes, static_cast<unsigned long long>(stats.found));
    return true;
  }

 private:
  const std::vector<char>& read(const std::string& path) {
    std::vector<char>& bytes = contents_[path];
    if (bytes.empty()) {
      std::ifstream in(path, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return bytes;
  }

  bool open(const std::vector<std::string>& files, std::unique_ptr<Module>* module) {
    Module::Options options;
    options.num_threads = 1;
    if (mode_ == "--file") options.load_mode = Module::LoadMode::File;
    const bool is_memory = mode_ == "--memory";
    for (size_t i = 1; i < files.size(); ++i) {
      if (is_memory) {
        const std::vector<char>& bytes = read(files[i]);
        options.data_loaders.push_back(extension::open_memory(bytes.data(), bytes.size()));
      } else {
        options.data_files.push_back(files[i]);
      }
    }
    auto loaded = is_memory ? Module::load(read(files[0]).data(), read(files[0]).size(), options)
                            : Module::load(files[0], options);
    if (!loaded.ok()) return false;  // the runtime has said why
    *module = std::move(*loaded);
    return true;
  }

  const std::string mode_;
  std::map<std::string, std::vector<char>> contents_;
  std::map<std::string, std::unique_ptr<Module>> modules_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool has_mode = argc > 1 && std::strncmp(argv[1], "--", 2) == 0;
  Loads loads(has_mode ? argv[1] : "");
  if (argc < (has_mode ? 3 : 2)) {
    std::fprintf(stderr, "usage: load_times [--file | --memory] FILES:METHOD...\n");
    return 2;
  }
  for (int i = has_mode ? 2 : 1; i < argc; ++i) {
    if (!loads.load(argv[i])) return 1;
  }
  return 0;
}
