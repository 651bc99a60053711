// SPDX-License-Identifier: Apache-2.0
//
// The whole way once: a trained classifier of handwritten digits is exported
// for XNNPACK into a program and a weight file, loaded again, and classifies
// images it was not trained on.
//
//   ./bazelw run //examples:quickstart
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "examples/quickstart/export_digits.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/module/heap_allocator.h"
#include "extension/tensor/tensor_ptr.h"
#include "runtime/executor/program.h"

namespace {

using petrel::extension::FileDataLoader;
using petrel::extension::FlatDataMap;
using petrel::extension::HeapAllocator;
using petrel::runtime::Error;
using petrel::runtime::Program;
using petrel::runtime::Result;
using petrel::runtime::Span;

constexpr size_t kPixels = 64;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  const auto elapsed = std::chrono::steady_clock::now() - start;
  return std::chrono::duration<double, std::milli>(elapsed).count();
}

// One image and its label: 64 pixels of 0 to 16, then the digit.
struct Sample {
  std::vector<float> pixels;
  int label;
};

std::vector<Sample> read_samples(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<Sample> samples;
  for (size_t at = 0; at + kPixels < bytes.size(); at += kPixels + 1) {
    Sample sample;
    for (size_t i = 0; i < kPixels; ++i) {
      sample.pixels.push_back(static_cast<float>(bytes[at + i]) / 16.0f);
    }
    sample.label = bytes[at + kPixels];
    samples.push_back(std::move(sample));
  }
  return samples;
}

int failed(const char* what, Error error) {
  std::fprintf(stderr, "quickstart: %s: %s\n", what, to_string(error));
  return 1;
}

// Loads the two files with nothing but the runtime's own interfaces. An
// application that wants less to say uses Module, see examples/smallest_app.
int classify(const std::string& program_path, const std::string& weights_path,
             const std::vector<Sample>& samples) {
  const auto start = std::chrono::steady_clock::now();
  Result<FileDataLoader> loader = FileDataLoader::from(program_path.c_str());
  if (!loader.ok()) return failed("opening the program", loader.error());
  Result<Program> program = Program::load(&*loader);
  if (!program.ok()) return failed("loading the program", program.error());
  Result<FileDataLoader> data_loader = FileDataLoader::from(weights_path.c_str());
  if (!data_loader.ok()) return failed("opening the weights", data_loader.error());
  Result<FlatDataMap> weights = FlatDataMap::load(&*data_loader);
  if (!weights.ok()) return failed("loading the weights", weights.error());

  // The memory a method may use: all of it comes from the application.
  const auto meta = program->method_meta("forward");
  if (!meta.ok()) return failed("looking for the method", meta.error());
  std::vector<std::vector<uint8_t>> arenas;
  std::vector<Span<uint8_t>> spans;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    arenas.emplace_back(*meta->memory_planned_buffer_size(i));
  }
  for (auto& arena : arenas) spans.emplace_back(arena.data(), arena.size());
  petrel::runtime::HierarchicalAllocator planned(Span<Span<uint8_t>>(spans.data(), spans.size()));
  HeapAllocator method_allocator, temp_allocator;
  petrel::runtime::MemoryManager memory(&method_allocator, &planned, &temp_allocator);
  auto method = program->load_method("forward", &memory, nullptr, &*weights);
  if (!method.ok()) return failed("loading the method", method.error());
  const double load_ms = milliseconds_since(start);

  double first_run_ms = 0;
  size_t right = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto image = petrel::extension::make_tensor_ptr({1, 1, 8, 8}, samples[i].pixels);
    const auto run_start = std::chrono::steady_clock::now();
    Error error = method->set_input(*image, 0);
    if (error == Error::Ok) error = method->execute();
    if (error != Error::Ok) return failed("running the method", error);
    if (i == 0) first_run_ms = milliseconds_since(run_start);
    const auto scores = method->get_output(0).toTensor();
    const float* score = scores.const_data_ptr<float>();
    right += std::max_element(score, score + scores.numel()) - score == samples[i].label;
  }
  std::printf("load         %.2f ms, first run %.2f ms\n", load_ms, first_run_ms);
  std::printf("accuracy     %.1f %% (%zu of %zu held-out images)\n",
              100.0 * static_cast<double>(right) / static_cast<double>(samples.size()), right,
              samples.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // `bazel run` starts here in its own folder and says where the user is.
  const char* where = std::getenv("BUILD_WORKING_DIRECTORY");
  const std::string folder =
      argc > 1 ? argv[1] : std::string(where != nullptr ? where : ".") + "/quickstart_out";
  mkdir(folder.c_str(), 0777);
  const std::vector<Sample> samples = read_samples("examples/quickstart/digits.bin");
  if (samples.empty()) {
    std::fprintf(stderr, "quickstart: examples/quickstart/digits.bin cannot be read\n");
    return 1;
  }
  const absl::Status exported =
      petrel::examples::export_digits("examples/quickstart/digits.pt2", folder);
  if (!exported.ok()) {
    std::fprintf(stderr, "quickstart: %s\n", std::string(exported.message()).c_str());
    return 1;
  }
  return classify(folder + "/digits.pte", folder + "/digits.ptd", samples);
}
