// SPDX-License-Identifier: Apache-2.0
//
// What adapter_memory.cc and swap_time.cc of test/perf tell, for programs of the
// ExecuTorch wheel in its C++ runtime:
//
//   wheel_adapters OUTPUTS PROG.pte,DATA.ptd,... PROG.pte,DATA.ptd,...
//
//   {"adapters": 0, "own_bytes": 8021696, "private_bytes": 5021696}
//   {"adapters": 1, ...}
//   {"swap_ms": [60.1, 59.0], "private_bytes": 5021696, "private_bytes_after": 5021696}
//
// Loads and runs `forward` of the first, which is the base alone, then of each other in
// a module of its own, all on ones, and writes outputs to OUTPUTS/N.f32. Then it has one
// module, of the last adapter, and gives it the others in turn: by another module that is
// loaded before the first one goes, since the wheel has no other way.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "executorch/extension/module/module.h"
#include "executorch/extension/tensor/tensor.h"

namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  bool _unsafe_reset_threadpool(uint32_t new_thread_count);
};
ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace {

using executorch::extension::Module;
using executorch::runtime::Error;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 2;

long kb_of(std::initializer_list<const char*> keys) {
  std::ifstream rollup("/proc/self/smaps_rollup");
  long sum = 0;
  for (std::string line; std::getline(rollup, line);) {
    for (const char* key : keys) {
      if (line.rfind(key, 0) == 0) sum += std::atol(line.c_str() + std::strlen(key));
    }
  }
  return sum;
}

long private_bytes() { return 1024 * kb_of({"Private_Clean:", "Private_Dirty:"}); }

std::unique_ptr<Module> load(const std::string& word) {
  std::vector<std::string> files;
  std::istringstream list(word);
  for (std::string file; std::getline(list, file, ',');) files.push_back(file);
  const std::string program = files.front();
  files.erase(files.begin());
  auto module = std::make_unique<Module>(program, files, Module::LoadMode::Mmap);
  if (module->load_method("forward") != Error::Ok) throw std::runtime_error("loading " + word);
  return module;
}

std::vector<float> run(Module& module) {
  const auto meta = module.method_meta("forward");
  const auto info = meta->input_tensor_meta(0);
  std::vector<executorch::aten::SizesType> sizes(info->sizes().begin(), info->sizes().end());
  const auto input = executorch::extension::ones(sizes);
  const auto outputs = module.forward(input);
  if (!outputs.ok()) throw std::runtime_error("running");
  const auto tensor = outputs->at(0).toTensor();
  const float* begin = tensor.const_data_ptr<float>();
  return {begin, begin + tensor.numel()};
}

void write(const char* folder, int number, const std::vector<float>& output) {
  std::ofstream out(std::string(folder) + "/" + std::to_string(number) + ".f32", std::ios::binary);
  out.write(reinterpret_cast<const char*>(output.data()),
            static_cast<std::streamsize>(output.size() * sizeof(float)));
}

void measure(int argc, char** argv) {
  std::vector<std::unique_ptr<Module>> modules;
  for (int i = 2; i < argc; ++i) {
    modules.push_back(load(argv[i]));
    write(argv[1], i - 2, run(*modules.back()));
    std::printf("{\"adapters\": %d, \"own_bytes\": %ld, \"private_bytes\": %ld}\n", i - 2,
                1024 * kb_of({"Pss:"}), private_bytes());
  }
  std::unique_ptr<Module> module = std::move(modules.back());
  modules.clear();
  const long before = private_bytes();
  std::printf("{\"swap_ms\": [");
  for (int i = 0; i < kRounds * (argc - 3); ++i) {
    const Clock::time_point start = Clock::now();
    std::unique_ptr<Module> next = load(argv[3 + i % (argc - 3)]);
    module = std::move(next);
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    std::printf("%s%.2f", i == 0 ? "" : ", ", ms);
    run(*module);
  }
  std::printf("], \"private_bytes\": %ld, \"private_bytes_after\": %ld}\n", before,
              private_bytes());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: wheel_adapters OUTPUTS BASE.pte[,DATA.ptd...] PROG.pte[,DATA.ptd...]...\n",
               stderr);
    return 2;
  }
  executorch::extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(1);
  try {
    measure(argc, argv);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "wheel_adapters: %s failed\n", e.what());
    return 1;
  }
}
