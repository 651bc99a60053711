// SPDX-License-Identifier: Apache-2.0
//
// Networks of half precision, of which make_programs.py has archives, the wheel's programs
// and outputs: all run as close to what the same weights give in floats as in the wheel, in
// no more calls of a delegate.
#include <petrel/fill.h>

#include <cmath>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/driver/export.h"
#include "extension/module/module.h"
#include "extension/npy/npy.h"
#include "extension/tensor/tensor_ptr.h"
#include "gtest/gtest.h"
#include "runtime/kernels/narrow/narrow_float.h"
#include "runtime/platform/isa_level.h"

namespace petrel::test {
namespace {

using extension::Module;
using extension::NpyArray;
using runtime::EValue;

struct Network {
  const char* name;
  size_t calls;  // of a delegate, in the wheel's program
};

constexpr Network kNetworks[] = {{"image", 2}, {"words", 5}, {"cell", 3}};

std::string path_of(const std::string& file) { return "test/half/programs/" + file; }

NpyArray array(const std::string& file) {
  absl::StatusOr<NpyArray> result = extension::read_npy(path_of(file));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : NpyArray();
}

std::vector<double> widened(const uint16_t* halves, size_t count) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(runtime::half_value(halves[i]));
  return values;
}

std::vector<double> halves(const std::string& file) {
  const NpyArray read = array(file);
  EXPECT_EQ(read.type, runtime::ScalarType::Half);
  return widened(reinterpret_cast<const uint16_t*>(read.data.data()), read.data.size() / 2);
}

// In dB, to the outputs of floats.
double signal_to_noise(const std::vector<double>& output, const std::string& name) {
  const NpyArray exact = array(name + ".output.npy");
  const auto* wanted = reinterpret_cast<const float*>(exact.data.data());
  EXPECT_EQ(output.size() * sizeof(float), exact.data.size());
  if (output.size() * sizeof(float) != exact.data.size()) return 0;
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    signal += double{wanted[i]} * double{wanted[i]};
    noise += (output[i] - double{wanted[i]}) * (output[i] - double{wanted[i]});
  }
  return 10 * std::log10(signal / noise);
}

// Of the output in half; empty where the program cannot be run.
std::vector<double> run(const std::string& path, const std::string& name) {
  auto module = Module::load(path);
  EXPECT_TRUE(module.ok()) << path;
  if (!module.ok()) return {};
  NpyArray input = array(name + ".input.npy");
  const extension::TensorPtr tensor = extension::tensor_of_bytes(
      std::vector<extension::SizesType>(input.shape.begin(), input.shape.end()), input.data.data(),
      input.data.size(), runtime::ScalarType::Half);
  auto outputs = (*module)->forward({EValue(*tensor)});
  EXPECT_TRUE(outputs.ok()) << path << ": " << runtime::to_string(outputs.error());
  if (!outputs.ok() || outputs->size() != 1) return {};
  const runtime::Tensor output = (*outputs)[0].toTensor();
  EXPECT_EQ(output.scalar_type(), runtime::ScalarType::Half);
  return widened(static_cast<const uint16_t*>(output.const_data_ptr()),
                 static_cast<size_t>(output.numel()));
}

// XNNPACK has kernels of half precision from there on.
bool has_half() {
  const uint32_t features = runtime::isa_level().features;
#if defined(__x86_64__)
  constexpr uint32_t kNeeded = runtime::kAvx2 | runtime::kFma3 | runtime::kF16c;
#else
  constexpr uint32_t kNeeded = runtime::kFp16;
#endif
  return (features & kNeeded) == kNeeded;
}

// A program that cannot be run here says so when it is loaded.
bool is_refused(const std::string& path) {
  if (has_half()) return false;
  auto module = Module::load(path);
  EXPECT_TRUE(module.ok());
  EXPECT_EQ((*module)->load_method("forward"), runtime::Error::NotSupported);
  return true;
}

exir::ExportReport exported(const std::string& name, bool delegated, std::string* path) {
  exir::ExportOptions options;
  options.methods["forward"] = path_of(name + ".pt2");
  if (delegated) options.backends.for_all = {{backends::xnnpack::aot::xnnpack_backend()}};
  options.output = ::testing::TempDir() + "/" + name + (delegated ? ".pte" : ".kernels.pte");
  *path = options.output;
  auto report = exir::export_program(options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : exir::ExportReport();
}

double of_wheel(const std::string& name) {
  return signal_to_noise(halves(name + ".wheel.npy"), name);
}

TEST(HalfPrograms, OfTheWheelRunAsCloseAsInTheWheel) {
  for (const Network& network : kNetworks) {
    const std::string path = path_of(network.name + std::string(".pte"));
    if (is_refused(path)) continue;
    // A last bit of one of the ten numbers of `image` is half of that.
    EXPECT_GE(signal_to_noise(run(path, network.name), network.name), of_wheel(network.name) - 1)
        << network.name;
  }
}

TEST(HalfPrograms, RunOnKernelsAsCloseAsEagerTorch) {
  for (const Network& network : kNetworks) {
    std::string path;
    exported(network.name, false, &path);
    const std::string eager = network.name + std::string(".eager.npy");
    EXPECT_GE(signal_to_noise(run(path, network.name), network.name),
              signal_to_noise(halves(eager), network.name) - 3)
        << network.name;
  }
}

TEST(HalfPrograms, DoNotDependOnWhatUnwrittenMemoryHolds) {
  for (const Network& network : kNetworks) {
    std::string path;
    exported(network.name, true, &path);
    if (is_refused(path)) continue;
    // NaN in every half, and a number.
    xnn_set_fill(0xFF);
    const std::vector<double> first = run(path, network.name);
    xnn_set_fill(0x5A);
    EXPECT_EQ(run(path, network.name), first) << network.name;
    xnn_set_fill(-1);
  }
}

TEST(HalfPrograms, RunDelegatedAsCloseAsTheWheels) {
  for (const Network& network : kNetworks) {
    std::string path;
    const exir::ExportReport report = exported(network.name, true, &path);
    size_t calls = 0;
    for (const auto& taken : report.partition.taken) calls += taken.partitions;
    EXPECT_GE(calls, 1u) << network.name;
    EXPECT_LE(calls, network.calls) << network.name;
    if (is_refused(path)) continue;
    // A last bit of one of the ten numbers of `image` is half of that.
    EXPECT_GE(signal_to_noise(run(path, network.name), network.name), of_wheel(network.name) - 1)
        << network.name;
  }
}

}  // namespace
}  // namespace petrel::test
