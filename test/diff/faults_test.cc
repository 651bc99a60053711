// SPDX-License-Identifier: Apache-2.0
//
// Faults planted one at a time: where one changes what a program returns, the comparison
// with a sound program names the node that it is in. Sound programs do not differ.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/driver/export.h"
#include "extension/diff/diff.h"
#include "extension/diff/watched_program.h"
#include "extension/npy/npy.h"
#include "extension/npy/tensor_array.h"
#include "extension/quantize/calibrate.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "test/diff/planted_faults.h"

namespace petrel::test {
namespace {

using extension::Diff;
using extension::ValueTrace;
using extension::WatchedProgram;

// What a user sees of a fault: the outputs are further from those without it. Noise of
// integers hides the rest.
constexpr double kSeenInFloats = 60;
constexpr double kSeenInIntegers = 10;

struct Case {
  std::string name;
  std::string reference;  // paths
  std::string program;    // the one that gets faults
  std::vector<std::string> inputs;
  bool is_rounded = false;
};

struct Score {
  int seen = 0;      // faults that change what is returned
  int named = 0;     // of these, those whose node is the first culprit
  int narrowed = 0;  // of the others, those whose node is listed beside it
};

std::string scratch(const std::string& name) { return ::testing::TempDir() + "/" + name; }

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

enum class On { kKernels, kXnnpack };

exir::ExportOptions options_of(const std::string& archive, On on) {
  exir::ExportOptions options;
  options.methods["forward"] = archive;
  if (on == On::kXnnpack) options.backends.for_all = {{backends::xnnpack::aot::xnnpack_backend()}};
  return options;
}

std::string exported(const std::string& archive, On on, const std::string& name) {
  exir::ExportOptions options = options_of(archive, on);
  options.output = scratch(name + (on == On::kKernels ? "_kernels.pte" : "_xnnpack.pte"));
  const auto report = exir::export_program(options);
  EXPECT_TRUE(report.ok()) << archive << ": " << report.status();
  return options.output;
}

std::string quantised(const std::string& archive, const std::string& samples,
                      exir::QuantScheme scheme, On on = On::kXnnpack) {
  extension::CalibrateOptions calibrate;
  calibrate.model = options_of(archive, on);
  calibrate.scheme = scheme;
  if (scheme == exir::QuantScheme::kStaticInt8) calibrate.samples["forward"] = {samples};
  const auto calibration = extension::calibrate(calibrate);
  EXPECT_TRUE(calibration.ok()) << calibration.status();
  if (!calibration.ok()) return "";
  exir::ExportOptions options = options_of(archive, on);
  options.quantization = std::make_shared<exir::QuantizationRecord>(calibration->record);
  static int count = 0;
  options.output = scratch("quantised_" + std::to_string(count++) + ".pte");
  const auto report = exir::export_program(options);
  EXPECT_TRUE(report.ok()) << archive << ": " << report.status();
  return options.output;
}

absl::StatusOr<ValueTrace> trace_of(const std::string& path,
                                    const std::vector<std::string>& inputs) {
  auto program = WatchedProgram::open(path, {}, "forward");
  if (!program.ok()) return program.status();
  const auto meta = (*program)->module().method_meta("forward");
  if (!meta.ok() || (*program)->module().load_method("forward") != runtime::Error::Ok) {
    return absl::InvalidArgumentError("refused");
  }
  std::vector<std::shared_ptr<extension::ArrayTensor>> tensors;
  std::vector<runtime::EValue> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto array = extension::read_npy(inputs[i]);
    const auto info = meta->input_tensor_meta(i);
    if (!array.ok() || !info.ok()) return absl::InvalidArgumentError(inputs[i]);
    auto tensor = extension::ArrayTensor::make(*array, info->dim_order());
    if (!tensor.ok()) return tensor.status();
    values.push_back((*tensor)->value());
    tensors.push_back(*std::move(tensor));
  }
  return (*program)->run("forward", values);
}

// Whether a user would see that the program does not return what it returned.
bool is_seen(const ValueTrace& sound, const ValueTrace& faulty, bool is_rounded) {
  if (sound.outputs.size() != faulty.outputs.size()) return true;
  extension::Tolerance tolerance;
  tolerance.min_sqnr = is_rounded ? kSeenInIntegers : kSeenInFloats;
  for (size_t i = 0; i < sound.outputs.size(); ++i) {
    const auto& a = sound.values[sound.outputs[i]];
    const auto& b = faulty.values[faulty.outputs[i]];
    if (a.array.shape != b.array.shape) return true;
    if (!extension::compare_values(a, b, tolerance).is_within) return true;
  }
  return false;
}

std::string describe(const Diff& diff) {
  if (diff.culprits.empty()) return diff.is_equal() ? "nothing" : "no culprit";
  const auto& value = diff.b.values[diff.rows[diff.culprits[0]].b];
  return value.op + " at " + value.place;
}

bool lists(const Diff& diff, const std::string& place) {
  if (diff.culprits.empty()) return false;
  for (const size_t value : diff.rows[diff.culprits[0]].between) {
    if (diff.b.values[value].place == place) return true;
  }
  return false;
}

class Faults {
 public:
  void try_all(const Case& one) {
    const auto reference = trace_of(one.reference, one.inputs);
    const auto sound = trace_of(one.program, one.inputs);
    ASSERT_TRUE(reference.ok()) << one.name << ": " << reference.status();
    ASSERT_TRUE(sound.ok()) << one.name << ": " << sound.status();
    const Diff clean = extension::diff_traces(*reference, *sound, {});
    EXPECT_TRUE(clean.is_equal()) << one.name << ":\n" << extension::to_text(clean, false);
    ++clean_pairs_;
    const std::string bytes = read_all(one.program);
    for (const Fault& fault : faults_of(bytes)) {
      const std::string path = scratch("faulty.pte");
      std::ofstream(path, std::ios::binary) << with(bytes, fault);
      auto faulty = trace_of(path, one.inputs);
      if (!faulty.ok() || !is_seen(*sound, *faulty, one.is_rounded)) continue;
      judge(one, fault, extension::diff_traces(*reference, *std::move(faulty), {}));
    }
  }

  void judge(const Case& one, const Fault& fault, const Diff& diff) {
    const bool is_named =
        !diff.culprits.empty() && diff.b.values[diff.rows[diff.culprits[0]].b].place == fault.place;
    const bool is_narrowed = !is_named && lists(diff, fault.place);
    for (Score* score : {&by_case_[one.name], &by_kind_[to_string(fault.kind)], &all_}) {
      ++score->seen;
      score->named += is_named ? 1 : 0;
      score->narrowed += is_narrowed ? 1 : 0;
    }
    if (is_named) return;
    std::printf("%s: %s, %s at %s: named %s%s\n", one.name.c_str(), to_string(fault.kind),
                fault.what.c_str(), fault.place.c_str(), describe(diff).c_str(),
                is_narrowed ? ", listed beside it" : "");
  }

  void print() const {
    for (const auto* scores : {&by_case_, &by_kind_}) {
      for (const auto& [name, score] : *scores) print(name, score);
    }
    print("all", all_);
    std::printf("%d clean pairs\n", clean_pairs_);
  }

  const Score& all() const { return all_; }
  const std::map<std::string, Score>& by_kind() const { return by_kind_; }

 private:
  static void print(const std::string& name, const Score& score) {
    std::printf("%-40s %4d faults seen, %4d named, %3d more listed\n", name.c_str(), score.seen,
                score.named, score.narrowed);
  }

  std::map<std::string, Score> by_case_;
  std::map<std::string, Score> by_kind_;
  Score all_;
  int clean_pairs_ = 0;
};

std::vector<std::string> inputs_of(const std::string& stem) {
  std::vector<std::string> inputs;
  while (std::filesystem::exists(stem + ".input_" + std::to_string(inputs.size()) + ".npy")) {
    inputs.push_back(stem + ".input_" + std::to_string(inputs.size()) + ".npy");
  }
  return inputs;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const std::string digits = "examples/quickstart/digits.pt2";
  const std::vector<std::string> digit = {"examples/quickstart/digit.npy"};
  const std::string kernels = exported(digits, On::kKernels, "digits");
  all.push_back({"digits, kernels", digits, kernels, digit});
  all.push_back(
      {"digits, XNNPACK beside kernels", digits, exported(digits, On::kXnnpack, "digits"), digit});
  const std::string integers = quantised(digits, digit[0], exir::QuantScheme::kStaticInt8);
  all.push_back({"digits, int8 beside floats", digits, integers, digit, true});
  all.push_back({"digits, int8", integers, integers, digit, true});
  for (const char* name : {"activations", "choices", "conv_circular", "encoder", "gated", "gru",
                           "norms", "pools", "resize", "response_norm", "statistics"}) {
    const std::string stem = std::string("test/models/layers/") + name;
    const std::string layer = name;
    all.push_back({layer + ", kernels", stem + ".pt2", exported(stem + ".pt2", On::kKernels, layer),
                   inputs_of(stem)});
    all.push_back({layer + ", XNNPACK beside kernels", stem + ".pt2",
                   exported(stem + ".pt2", On::kXnnpack, layer), inputs_of(stem)});
  }
  // Attention, recurrence and convolutions, in each scheme beside the floats.
  for (const char* name : {"attention", "cells", "encoder", "gru", "lstm", "rnn"}) {
    const std::string stem = std::string("test/models/layers/") + name;
    for (const auto scheme : {exir::QuantScheme::kStaticInt8, exir::QuantScheme::kDynamicInt8,
                              exir::QuantScheme::kHalf}) {
      const std::string what = std::string(name) + ", " + exir::scheme_name(scheme);
      const auto inputs = inputs_of(stem);
      const std::string program = quantised(stem + ".pt2", inputs[0], scheme);
      all.push_back({what, stem + ".pt2", program, inputs, true});
    }
    all.push_back(
        {std::string(name) + ", static-int8 on kernels", stem + ".pt2",
         quantised(stem + ".pt2", inputs_of(stem)[0], exir::QuantScheme::kStaticInt8, On::kKernels),
         inputs_of(stem), true});
  }
  for (const char* name : {"image_channel", "image_tensor", "mixed", "rows"}) {
    const std::string stem = std::string("test/quantized/programs/") + name;
    const std::string program = name;
    const std::vector<std::string> input = {stem + ".input.npy"};
    const std::string ours = exported(stem + ".pt2", On::kXnnpack, program);
    all.push_back({program + ", beside ExecuTorch's", stem + ".pte", ours, input, true});
    all.push_back({program + ", ExecuTorch's beside ours", ours, stem + ".pte", input, true});
    all.push_back({program + ", kernels", stem + ".pt2",
                   exported(stem + ".pt2", On::kKernels, program), input, true});
  }
  return all;
}

TEST(PlantedFaults, AreNamedByTheirNode) {
  runtime::set_log_hook({[](void*, runtime::LogLevel, const char*) {}, nullptr});
  Faults faults;
  for (const Case& one : cases()) faults.try_all(one);
  runtime::set_log_hook(runtime::LogHook{});
  faults.print();
  EXPECT_GE(faults.all().seen, 100);
  // Not all: a norm is a kernel here and nine nodes there, and is known by its numbers, so that a
  // fault inside of one is named behind it.
  EXPECT_GE(faults.all().named, 0.94 * faults.all().seen);
  EXPECT_GE(faults.all().named + faults.all().narrowed, 0.98 * faults.all().seen);
  // Each kind of fault is among them.
  EXPECT_EQ(faults.by_kind().size(), 8u);
}

}  // namespace
}  // namespace petrel::test
