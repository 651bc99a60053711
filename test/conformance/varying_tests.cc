// SPDX-License-Identifier: Apache-2.0
//
// Sizes that vary from call to call, of methods and of single partitions: at their
// bounds, between them and beyond. A backend that takes only fixed sizes gets no
// such node, and the report says so.
#include <algorithm>
#include <regex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "test/conformance/partition_run.h"
#include "test/conformance/suite.h"

namespace petrel::conformance {
namespace {

using exir::kSamples;
using exir::Sizes;
using runtime::Error;
using ::testing::HasSubstr;

// The method with the sizes of one sample point: f32[n,8] becomes f32[5,8].
std::string at_sample(const std::string& text, size_t k) {
  const size_t begin = text.find('<');
  const size_t end = text.find('>', begin);
  if (end == std::string::npos) return text;
  std::string fixed = text.substr(0, begin) + text.substr(end + 1);
  for (const absl::string_view partition :
       absl::StrSplit(text.substr(begin + 1, end - begin - 1), ',')) {
    static const auto* const kSymbol =
        new std::regex(" *(\\w+): (\\d+)\\.\\.(\\d+)(?: at ([0-9|]+))?");
    const std::string symbol(partition);
    std::smatch found;
    if (!std::regex_match(symbol, found, *kSymbol)) return text;
    const std::string name = found[1];
    const exir::SizeRange range = {std::stoll(found[2]), std::stoll(found[3])};
    std::string value = absl::StrCat(exir::SizeSymbol(name, range).samples[k]);
    if (found[4].matched) {
      const std::vector<std::string> values = absl::StrSplit(found[4].str(), '|');
      value = values[k];
    }
    const std::regex dim("([\\[,])" + name + "(?=[,\\]])");
    fixed = std::regex_replace(fixed, dim, "$01" + value);
  }
  return fixed;
}

// Largest, smallest and what is between, then the way back: each call needs more
// or less memory than the one before.
std::vector<size_t> there_and_back() {
  std::vector<size_t> order;
  for (size_t k = 0; k < kSamples; ++k) order.push_back(k);
  for (size_t k = kSamples; k-- > 0;) order.push_back(k);
  return order;
}

std::vector<Sizes> sizes_of(const std::vector<exir::TensorType>& types) {
  std::vector<Sizes> sizes;
  for (const exir::TensorType& type : types) sizes.push_back(type.sizes);
  return sizes;
}

class VaryingSizes : public Conformance {
 protected:
  struct Call {
    std::vector<Elements> inputs;
    std::vector<Sizes> sizes;
    std::vector<Elements> outputs;
  };

  // What kernels make of the method when it is compiled for just these sizes.
  Call call_at(const std::string& text, size_t k, uint32_t seed) {
    const auto fixed = compile({{"forward", at_sample(text, k)}}, {});
    EXPECT_TRUE(fixed.ok()) << fixed.status();
    Call call;
    if (!fixed.ok()) return call;
    call.inputs = make_inputs(fixed->inputs, seed);
    // A rank-0 input decides which branch runs: both, whatever the seed.
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (fixed->inputs[i].rank() == 0) call.inputs[i] = {seed % 2 == 0 ? 1.0f : -1.0f};
    }
    call.sizes = sizes_of(fixed->inputs);
    call.outputs = load_and_run(fixed->files, "forward", call.inputs);
    return call;
  }

  void expect_right(LoadedMethod& method, const std::string& text, size_t k, uint32_t seed) {
    SCOPED_TRACE(absl::StrCat("point ", k, ", seed ", seed));
    const Call call = call_at(text, k, seed);
    std::vector<Elements> outputs;
    std::vector<Sizes> output_sizes;
    ASSERT_EQ(method.run(call.inputs, call.sizes, &outputs, &output_sizes), Error::Ok);
    expect_near(outputs, call.outputs);
    const auto types = parse_program({{"forward", at_sample(text, k)}});
    ASSERT_TRUE(types.ok());
    const auto& results = types->methods.at("forward").graph->outputs();
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(output_sizes[i], results[i]->tensor().sizes) << "output " << i;
    }
  }
};

TEST_F(VaryingSizes, AreDeclaredAsThePartitionerSays) {
  EXPECT_EQ(fixture_.takes_varying_sizes, fixture_.compiler->partitioner().takes_varying_sizes());
  EXPECT_FALSE(fixture_.varying_methods.empty()) << "the fixture has no method to try";
}

TEST_F(VaryingSizes, AreDelegatedOrRefusedAheadOfTimeWithAReason) {
  for (const std::string& text : fixture_.varying_methods) {
    SCOPED_TRACE(text);
    // Whether the backend takes its operators at all.
    EXPECT_GT(compiled({{"forward", at_sample(text, 2)}}).delegated_nodes(), 0u);
    const Compiled made = compiled({{"forward", text}});
    size_t varying = 0;
    for (const CompiledPartition& partition : made.partitions) {
      for (const exir::TensorType& type : partition.inputs) varying += type.is_dynamic();
    }
    if (fixture_.takes_varying_sizes) {
      EXPECT_GT(varying, 0u);
      continue;
    }
    EXPECT_EQ(varying, 0u);
    ASSERT_FALSE(made.report.left_behind.empty());
    for (const auto& left : made.report.left_behind) {
      EXPECT_THAT(left.reason, HasSubstr("takes only fixed sizes")) << left.node;
    }
    exir::BackendSelection whole = backend();
    whole.for_all[0].whole_method = true;
    const absl::Status refused = compile({{"forward", text}}, whole).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("takes only fixed sizes"));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("method 'forward'"));
  }
}

TEST_F(VaryingSizes, AreToldToTheBackendWhenItIsMade) {
  Watch& watch = reset_watch();
  const auto load = [](const Compiled& made) {
    reset_watch();
    const LoadedProgram program(made.files);
    const LoadedMethod method(program, "forward");
    EXPECT_EQ(method.error(), Error::Ok);
  };
  for (const std::string& text : fixture_.varying_methods) {
    SCOPED_TRACE(text);
    load(compiled({{"forward", text}}));
    EXPECT_EQ(watch.fixed, fixture_.takes_varying_sizes ? 0 : watch.inits.load());
    load(compiled({{"forward", at_sample(text, 2)}}));
    EXPECT_GT(watch.inits, 0);
    EXPECT_EQ(watch.fixed, watch.inits);
  }
}

TEST_F(VaryingSizes, OfOneLoadedMethodComputeWhatKernelsDoForEach) {
  for (const std::string& text : fixture_.varying_methods) {
    SCOPED_TRACE(text);
    const Compiled made = compiled({{"forward", text}});
    const LoadedProgram program(made.files);
    LoadedMethod method(program, "forward");
    ASSERT_EQ(method.error(), Error::Ok);
    uint32_t seed = 0;
    for (const size_t k : there_and_back()) {
      ASSERT_NO_FATAL_FAILURE(expect_right(method, text, k, seed++));
      ASSERT_NO_FATAL_FAILURE(expect_right(method, text, k, seed++));
    }
  }
}

TEST_F(VaryingSizes, BeyondABoundAreAnErrorAndTheMethodWorksAfterwards) {
  for (const std::string& text : fixture_.varying_methods) {
    SCOPED_TRACE(text);
    const Compiled made = compiled({{"forward", text}});
    const LoadedProgram program(made.files);
    LoadedMethod method(program, "forward");
    ASSERT_EQ(method.error(), Error::Ok);
    size_t tried = 0;
    for (size_t i = 0; i < made.inputs.size(); ++i) {
      for (size_t dim = 0; dim < made.inputs[i].rank(); ++dim) {
        std::vector<exir::TensorType> types = made.inputs;
        types[i] = exir::TensorType::contiguous(types[i].dtype, types[i].sizes);
        ++types[i].sizes[dim];
        std::vector<Elements> outputs;
        std::vector<Sizes> output_sizes;
        const QuietLog quiet;
        EXPECT_NE(method.run(make_inputs(types, 1), sizes_of(types), &outputs, &output_sizes),
                  Error::Ok)
            << "input " << i << ", dim " << dim << " is " << types[i].sizes[dim];
        ++tried;
      }
    }
    EXPECT_GT(tried, 0u);
    for (const size_t k : {size_t{1}, size_t{0}}) {
      ASSERT_NO_FATAL_FAILURE(expect_right(method, text, k, 3));
    }
  }
}

// One partition alone, which nothing protects from its arguments.
class VaryingPartitions : public VaryingSizes {
 protected:
  // The parts of the fixture's methods that have varying inputs.
  std::vector<std::pair<CompiledPartition, exir::NamedBlobStore>> partitions() {
    std::vector<std::pair<CompiledPartition, exir::NamedBlobStore>> found;
    for (const std::string& text : fixture_.varying_methods) {
      const Compiled made = compiled({{"forward", text}});
      for (const CompiledPartition& partition : made.partitions) {
        bool varies = false;
        for (const exir::TensorType& type : partition.inputs) varies |= type.is_dynamic();
        if (varies) found.emplace_back(partition, made.store.blobs());
      }
    }
    // Without the capability there are none: AreDelegatedOrRefusedAheadOfTime.
    EXPECT_EQ(found.empty(), !fixture_.takes_varying_sizes);
    return found;
  }

  static void resize(runtime::EValue& value, const Sizes& sizes) {
    const std::vector<int32_t> narrow(sizes.begin(), sizes.end());
    const runtime::Tensor tensor = value.toTensor();
    if (tensor.sizes().size() != narrow.size() ||
        !std::equal(narrow.begin(), narrow.end(), tensor.sizes().begin())) {
      ASSERT_EQ(runtime::resize_tensor(tensor, {narrow.data(), narrow.size()}), Error::Ok);
    }
  }
};

TEST_F(VaryingPartitions, ResizeTheirResults) {
  for (const auto& [partition, store] : partitions()) {
    PartitionRun run(partition, store);
    ASSERT_EQ(run.init(run.payload()), Error::Ok);
    for (const size_t k : there_and_back()) {
      ASSERT_EQ(run.execute(static_cast<uint32_t>(k),
                            [&, inputs = partition.inputs](PartitionRun::Arguments& args) {
                              for (size_t i = 0; i < inputs.size(); ++i) {
                                resize(args[i], inputs[i].at_sample(k).sizes);
                              }
                            }),
                Error::Ok);
      for (size_t i = 0; i < partition.outputs.size(); ++i) {
        const auto sizes = run.output(i).impl().sizes();
        EXPECT_EQ(Sizes(sizes.begin(), sizes.end()), partition.outputs[i].at_sample(k).sizes)
            << "output " << i << " at point " << k;
      }
      EXPECT_TRUE(run.guards_are_whole());
    }
    run.destroy();
    EXPECT_EQ(run.leaks(), 0);
  }
}

TEST_F(VaryingPartitions, RefuseResultsThatAreTooSmall) {
  for (const auto& [partition, store] : partitions()) {
    PartitionRun run(partition, store);
    ASSERT_EQ(run.init(run.payload()), Error::Ok);
    for (size_t i = 0; i < run.num_outputs(); ++i) {
      if (!partition.outputs[i].is_dynamic()) continue;
      // Room for the smallest sizes, inputs of the largest.
      GuardedTensor small(partition.outputs[i].at_sample(1), /*resizes=*/true);
      const QuietLog quiet;
      EXPECT_NE(run.execute(1,
                            [&](PartitionRun::Arguments& args) {
                              args[run.num_inputs() + i] = small.value();
                            }),
                Error::Ok);
      EXPECT_TRUE(small.guards_are_whole());
      EXPECT_EQ(run.execute(1), Error::Ok);
    }
    run.destroy();
    EXPECT_EQ(run.leaks(), 0);
  }
}

// Sizes that no compiler planned together, and payloads with a damaged byte.
TEST_F(VaryingPartitions, StayWithinTheirMemoryWhateverTheSizes) {
  const QuietLog quiet;
  uint32_t calls = 0;
  uint32_t taken = 0;
  for (const auto& [partition, store] : partitions()) {
    PartitionRun run(partition, store);
    const auto attack = [&](const std::vector<uint8_t>& payload, uint32_t seed) {
      if (run.init(payload) != Error::Ok) return;
      for (uint32_t round = 0; round < 4; ++round) {
        ++calls;
        taken += run.execute(seed, [&, inputs = partition.inputs](PartitionRun::Arguments& args) {
          for (size_t i = 0; i < inputs.size(); ++i) {
            if (!inputs[i].is_dynamic()) continue;
            resize(args[i], inputs[i].at_sample((seed + round * (i + 1)) % kSamples).sizes);
          }
        }) == Error::Ok;
        ASSERT_TRUE(run.guards_are_whole());
      }
      run.destroy();
      ASSERT_EQ(run.leaks(), 0);
    };
    for (uint32_t seed = 0; seed < kSamples; ++seed) {
      ASSERT_NO_FATAL_FAILURE(attack(run.payload(), seed));
    }
    const std::vector<uint8_t> whole = run.payload();
    for (size_t i = 0; i < whole.size(); i += fixture_.mutation_stride) {
      for (const uint8_t byte : {uint8_t{0}, uint8_t{0xFF}, static_cast<uint8_t>(whole[i] + 1),
                                 static_cast<uint8_t>(whole[i] ^ 0x10)}) {
        std::vector<uint8_t> damaged = whole;
        damaged[i] = byte;
        ASSERT_NO_FATAL_FAILURE(attack(damaged, static_cast<uint32_t>(i)))
            << "byte " << i << " is " << int{byte};
      }
    }
  }
  std::printf("%u calls, %u of them went well\n", calls, taken);
  if (fixture_.takes_varying_sizes) {
    EXPECT_GT(taken, 0u);
  }
}

}  // namespace
}  // namespace petrel::conformance
