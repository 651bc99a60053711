// SPDX-License-Identifier: Apache-2.0
//
// Quantised models, of which make_programs.py has archives, the wheel's programs and
// outputs: the wheel's programs run as in the wheel, archives as eager torch computes them,
// delegated or not, and what is delegated has the bits of the wheel's programs.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/driver/export.h"
#include "extension/module/module.h"
#include "extension/npy/npy.h"
#include "extension/tensor/tensor_ptr.h"
#include "gtest/gtest.h"
#include "runtime/platform/isa_level.h"

namespace petrel::test {
namespace {

using extension::Module;
using extension::NpyArray;
using runtime::EValue;

struct Program {
  std::string name;
  double quantum = 0;          // between two levels of its output; 0: not quantised
  double signal_to_noise = 0;  // of the wheel's output to eager torch's, in dB; 0: none
};

std::string path_of(const std::string& file) { return "test/quantized/programs/" + file; }

std::vector<Program> programs() {
  std::ifstream file(path_of("quanta.txt"));
  std::vector<Program> found;
  for (Program one; file >> one.name >> one.quantum >> one.signal_to_noise;) found.push_back(one);
  EXPECT_EQ(found.size(), 16u);
  return found;
}

NpyArray array(const std::string& file) {
  absl::StatusOr<NpyArray> result = extension::read_npy(path_of(file));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : NpyArray();
}

std::vector<float> floats(const NpyArray& array) {
  const auto* data = reinterpret_cast<const float*>(array.data.data());
  return {data, data + array.data.size() / sizeof(float)};
}

std::vector<float> run(const std::string& path, const Program& program) {
  auto module = Module::load(path);
  EXPECT_TRUE(module.ok()) << path;
  if (!module.ok()) return {};
  NpyArray input = array(program.name + ".input.npy");
  const extension::TensorPtr tensor = extension::tensor_of_bytes(
      std::vector<extension::SizesType>(input.shape.begin(), input.shape.end()), input.data.data(),
      input.data.size(), runtime::ScalarType::Float);
  auto outputs = (*module)->forward({EValue(*tensor)});
  EXPECT_TRUE(outputs.ok()) << path << ": " << runtime::to_string(outputs.error());
  if (!outputs.ok() || outputs->size() != 1) return {};
  const runtime::Tensor output = (*outputs)[0].toTensor();
  return {output.const_data_ptr<float>(), output.const_data_ptr<float>() + output.numel()};
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

double signal_to_noise(const std::vector<float>& output, const std::vector<float>& exact) {
  EXPECT_EQ(output.size(), exact.size());
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < std::min(output.size(), exact.size()); ++i) {
    const double wanted = exact[i];
    signal += wanted * wanted;
    noise += (output[i] - wanted) * (output[i] - wanted);
  }
  return 10 * std::log10(signal / noise);
}

// Instruction sets round a product that lies between two levels to one or the other.
double tolerance(const Program& program) { return 1.01 * program.quantum + 1e-5; }

std::string exported(const Program& program, bool delegated) {
  exir::ExportOptions options;
  options.methods["forward"] = path_of(program.name + ".pt2");
  if (delegated) options.backends.for_all = {{backends::xnnpack::aot::xnnpack_backend()}};
  options.output = ::testing::TempDir() + "/" + program.name + ".pte";
  const auto report = exir::export_program(options);
  EXPECT_TRUE(report.ok()) << report.status();
  // What is quantised from end to end is one call of a delegate.
  const bool is_whole = program.name != "mixed" && program.name.rfind("groups_", 0) != 0;
  if (report.ok() && delegated && is_whole) {
    EXPECT_EQ(report->partition.taken.size(), 1u);
    for (const auto& taken : report->partition.taken) EXPECT_EQ(taken.partitions, 1u);
    EXPECT_TRUE(report->kernels.at("forward").empty());
  }
  return options.output;
}

bool is_dynamic(const Program& program) {
  return program.name.find("dynamic") != std::string::npos;
}

// Whether the wheel lowers it.
bool has_wheel(const Program& program) { return program.signal_to_noise != 0; }

// XNNPACK multiplies by 4 bits in groups with AVX2 only.
bool has_groups_of_4_bits() {
#if defined(__x86_64__)
  return (runtime::isa_level().features & runtime::kAvx2) != 0;
#else
  return true;
#endif
}

// A program that cannot be run here says so when it is loaded.
bool is_refused(const std::string& path) {
  if (has_groups_of_4_bits()) return false;
  auto module = Module::load(path);
  EXPECT_TRUE(module.ok());
  EXPECT_EQ((*module)->load_method("forward"), runtime::Error::NotSupported);
  return true;
}

TEST(QuantizedPrograms, OfTheWheelRunAsInTheWheel) {
  for (const Program& program : programs()) {
    if (!has_wheel(program)) continue;
    SCOPED_TRACE(program.name);
    // It has groups of whole rows where our programs have rows.
    const bool has_groups = program.name.find("4bit") != std::string::npos;
    if (has_groups && is_refused(path_of(program.name + ".pte"))) continue;
    EXPECT_LE(largest_difference(run(path_of(program.name + ".pte"), program),
                                 floats(array(program.name + ".wheel.npy"))),
              tolerance(program));
  }
}

TEST(QuantizedPrograms, RunOnKernelsAsInEagerTorch) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name);
    EXPECT_LE(largest_difference(run(exported(program, false), program),
                                 floats(array(program.name + ".output.npy"))),
              tolerance(program));
  }
}

TEST(QuantizedPrograms, RunDelegatedAsInEagerTorch) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name);
    const std::string path = exported(program, true);
    if (program.name == "groups_dynamic_4bit" && is_refused(path)) continue;
    const std::vector<float> output = run(path, program);
    const std::vector<float> exact = floats(array(program.name + ".output.npy"));
    if (is_dynamic(program)) {
      // XNNPACK has a scale for each row where PyTorch has one for all of them.
      EXPECT_GE(signal_to_noise(output, exact), std::min(program.signal_to_noise - 0.5, 40.0));
    } else {
      EXPECT_LE(largest_difference(output, exact), tolerance(program));
    }
  }
}

TEST(QuantizedPrograms, OfOursGiveTheBitsOfTheWheels) {
  for (const Program& program : programs()) {
    // The wheel leaves to kernels products of which one side is quantised, and by weights
    // of one scale what is quantised at run time; scales of 4 bits it rounds always.
    const bool is_same = has_wheel(program) && program.name != "mixed" &&
                         program.name != "rows_dynamic_tensor" &&
                         program.name.find("4bit") == std::string::npos;
    if (!is_same) continue;
    SCOPED_TRACE(program.name);
    EXPECT_EQ(run(exported(program, true), program), run(path_of(program.name + ".pte"), program));
  }
}

}  // namespace
}  // namespace petrel::test
