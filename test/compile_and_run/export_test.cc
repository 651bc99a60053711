// SPDX-License-Identifier: Apache-2.0
//
// The driver on archives that torch wrote; what comes out is run and compared
// with what torch computed.
#include "exir/driver/export.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "backends/null/aot/null_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/compile_and_run/run.h"

namespace petrel::compile_and_run {
namespace {

using exir::export_program;
using exir::ExportOptions;
using exir::ExportReport;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string fixture(const std::string& name) {
  return std::string(getenv("TEST_SRCDIR")) + "/" + getenv("TEST_WORKSPACE") +
         "/test/models/fixtures/torch_2_13/" + name;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The elements of a `.npy` file of little-endian float32, or false.
bool read_npy(const std::string& path, std::vector<float>* out) {
  const std::string bytes = contents(path);
  if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0) return false;
  const size_t begin = 10 + static_cast<uint8_t>(bytes[8]) +
                       256 * static_cast<size_t>(static_cast<uint8_t>(bytes[9]));
  if (bytes.find("'<f4'") > begin) return false;
  out->resize((bytes.size() - begin) / sizeof(float));
  std::memcpy(out->data(), bytes.data() + begin, out->size() * sizeof(float));
  return true;
}

std::vector<std::vector<float>> read_all(const std::string& model, const std::string& kind) {
  std::vector<std::vector<float>> all;
  std::vector<float> one;
  while (read_npy(fixture(model + "." + kind + "_" + std::to_string(all.size()) + ".npy"), &one)) {
    all.push_back(one);
  }
  return all;
}

class ExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/export_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  ExportOptions options_for(const std::string& model) const {
    ExportOptions options;
    options.methods["forward"] = fixture(model + ".pt2");
    options.output = folder_ + "/out.pte";
    return options;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') names.push_back(entry->d_name);
    }
    closedir(folder);
    return names;
  }

  // The message of an export that must fail and leave nothing.
  std::string failure(const ExportOptions& options) const {
    const auto report = export_program(options);
    EXPECT_FALSE(report.ok());
    EXPECT_THAT(files(), IsEmpty());
    return std::string(report.status().message());
  }

  std::string folder_;
};

TEST_F(ExportTest, ResultsAreThoseOfTorch) {
  for (const char* model : {"conv_bn_relu", "conv_bn_relu_core", "channels_last", "constants",
                            "in_place", "shared_storage", "tied_weights", "transposed_parameter"}) {
    for (const exir::Backend* backend :
         {static_cast<const exir::Backend*>(nullptr), backends::null::aot::null_backend()}) {
      for (const char* weights : {"", "/w.ptd"}) {
        SCOPED_TRACE(std::string(model) + weights);
        ExportOptions options = options_for(model);
        if (backend != nullptr) options.backends.for_all = {{backend}};
        if (*weights != 0) options.external_weights = folder_ + weights;
        const auto report = export_program(options);
        ASSERT_TRUE(report.ok()) << report.status();

        Files files = {{"", contents(options.output)}};
        if (*weights != 0) files["w.ptd"] = contents(options.external_weights);
        LoadedMethod method(files, "forward");
        ASSERT_EQ(method.error(), runtime::Error::Ok);
        // NaN in every float, and a number: nobody reads what nobody has written.
        method.fill(0xFF);
        const auto in_nan = method.run(read_all(model, "input"));
        method.fill(0x5A);
        const auto outputs = method.run(read_all(model, "input"));
        ASSERT_EQ(outputs, in_nan) << "outputs depend on what the arenas held";
        const auto wanted = read_all(model, "output");
        ASSERT_EQ(outputs.size(), wanted.size());
        ASSERT_FALSE(wanted.empty());
        for (size_t i = 0; i < wanted.size(); ++i) {
          ASSERT_EQ(outputs[i].size(), wanted[i].size());
          float largest = 0;
          for (float e : wanted[i]) largest = std::max(largest, std::abs(e));
          for (size_t e = 0; e < wanted[i].size(); ++e) {
            ASSERT_NEAR(outputs[i][e], wanted[i][e], 1e-5 * largest);
          }
        }
      }
    }
  }
}

TEST_F(ExportTest, ReportsWhatItDid) {
  ExportOptions options = options_for("conv_bn_relu");
  options.external_weights = folder_ + "/w.ptd";
  std::vector<std::string> phases;
  options.on_phase = [&](const std::string& name) { phases.push_back(name); };
  std::vector<std::string> dumped;
  options.dump_after = "remove_dead_code";
  options.dump = [&](const std::string& pass, const exir::Graph& graph) {
    dumped.push_back(pass + " of " + graph.name());
  };
  const auto report = export_program(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(phases, ElementsAre("import", "optimize", "legalize", "plan", "emit"));
  ASSERT_EQ(report->phase_seconds.size(), 5u);
  EXPECT_FALSE(dumped.empty());
  for (const std::string& entry : dumped) {
    EXPECT_EQ(entry, "remove_dead_code of forward");
  }
  const auto& kernels = report->kernels.at("forward");
  EXPECT_EQ(kernels.at("aten::relu.out"), 1u);
  EXPECT_EQ(kernels.at("aten::convolution.out"), 1u);
  ASSERT_EQ(report->emit.memory.size(), 1u);
  EXPECT_TRUE(report->emit.memory[0].proven_optimal);
  EXPECT_EQ(report->emit.file_bytes.at(""), contents(options.output).size());
  EXPECT_EQ(report->emit.file_bytes.at("w.ptd"), contents(options.external_weights).size());
  EXPECT_THAT(files(), UnorderedElementsAre("out.pte", "w.ptd"));
}

TEST_F(ExportTest, MethodsOfOneArchiveShareTheirWeights) {
  ExportOptions options;
  options.methods["prefill"] = fixture("two_programs.pt2");
  options.output = folder_ + "/out.pte";
  const auto one = export_program(options);
  ASSERT_TRUE(one.ok()) << one.status();
  options.methods["decode"] = fixture("two_programs.pt2");
  const auto both = export_program(options);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_GT(one->weight_bytes, 0u);
  EXPECT_EQ(both->weight_bytes, one->weight_bytes);
  EXPECT_EQ(both->shared_weight_bytes, one->weight_bytes);
}

TEST_F(ExportTest, TwoExportsGiveEqualBytes) {
  ExportOptions options = options_for("constants");
  options.external_weights = folder_ + "/w.ptd";
  options.backends.for_all = {{backends::null::aot::null_backend()}};
  ASSERT_TRUE(export_program(options).ok());
  const std::string program = contents(options.output);
  const std::string weights = contents(options.external_weights);
  EXPECT_FALSE(program.empty());
  ASSERT_TRUE(export_program(options).ok());
  EXPECT_TRUE(contents(options.output) == program);
  EXPECT_TRUE(contents(options.external_weights) == weights);
}

TEST_F(ExportTest, SaysWhereUnknownOperatorsAre) {
  const std::string message = failure(options_for("unsupported_ops"));
  EXPECT_THAT(message, HasSubstr("method 'forward'"));
  EXPECT_THAT(message, HasSubstr("aten.igamma.default"));
  EXPECT_THAT(message, HasSubstr("make_fixtures.py:"));
}

TEST_F(ExportTest, RefusesOptionsThatCannotBe) {
  ExportOptions options = options_for("constants");
  options.dump_after = "no_such_pass";
  EXPECT_THAT(failure(options), HasSubstr("there is no pass 'no_such_pass'; the passes are "
                                          "drop_assertions"));
  options = options_for("constants");
  options.methods.clear();
  EXPECT_EQ(failure(options), "there is no method to export");
  options = options_for("constants");
  options.methods[""] = fixture("constants.pt2");
  EXPECT_THAT(failure(options), HasSubstr("has no name"));
  options = options_for("constants");
  options.external_weights = folder_ + "/../" + folder_.substr(folder_.rfind('/') + 1) + "/out.pte";
  EXPECT_THAT(failure(options), HasSubstr("would both be written to"));
  options = options_for("constants");
  options.external_weights = folder_ + "/";
  EXPECT_THAT(failure(options), HasSubstr("not a plain file name"));
  options = options_for("constants");
  options.backends.for_all = {{backends::null::aot::null_backend(), {{"key", "value"}}}};
  EXPECT_THAT(failure(options), HasSubstr("does not know compile spec 'key'"));
  options = options_for("constants");
  options.methods["forward"] = folder_ + "/none.pt2";
  EXPECT_THAT(failure(options), HasSubstr("none.pt2"));
}

TEST_F(ExportTest, NeverWritesOverItsInput) {
  const std::string input = folder_ + "/model.pt2";
  const std::string bytes = contents(fixture("constants.pt2"));
  std::ofstream(input, std::ios::binary) << bytes;
  ExportOptions options;
  options.methods["forward"] = input;
  options.output = folder_ + "/./model.pt2";
  const auto report = export_program(options);
  EXPECT_THAT(std::string(report.status().message()),
              HasSubstr("is the input of method 'forward'"));
  EXPECT_TRUE(contents(input) == bytes);
}

TEST_F(ExportTest, RefusesOutputsThatAreNoFiles) {
  ExportOptions options = options_for("constants");
  options.output = folder_;
  EXPECT_THAT(failure(options), HasSubstr("is a directory"));
  options.output = folder_ + "/none/out.pte";
  EXPECT_THAT(failure(options), HasSubstr("No such file or directory"));
  options = options_for("constants");
  options.external_weights = "/dev/null";
  EXPECT_THAT(failure(options), HasSubstr("'/dev/null' is not a regular file"));
}

TEST_F(ExportTest, AFullDiskLeavesTheOldFilesAlone) {
  ExportOptions options = options_for("constants");
  options.external_weights = folder_ + "/w.ptd";
  std::ofstream(options.output) << "old program";
  std::ofstream(options.external_weights) << "old weights";
  signal(SIGXFSZ, SIG_IGN);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  // Less than either file, then more than the weights but not the program.
  for (rlim_t room : {100, 1000}) {
    rlimit small = old;
    small.rlim_cur = room;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto report = export_program(options);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    EXPECT_EQ(report.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(contents(options.output), "old program");
    EXPECT_EQ(contents(options.external_weights), "old weights");
    EXPECT_THAT(files(), UnorderedElementsAre("out.pte", "w.ptd"));
  }
}

}  // namespace
}  // namespace petrel::compile_and_run
