// SPDX-License-Identifier: Apache-2.0
//
// The default limits take a decoder of seven billion parameters: its weights in a
// data file of 13 GB, which is sparse, its key-value cache for 4,096 tokens and what
// it computes for all of them at once. Kernels pay for their work and do not do it.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "extension/module/module.h"
#include "runtime/executor/registry.h"
#include "runtime/kernel/kernel_args.h"
#include "schema/flat_data_generated.h"
#include "test/faults/attack.h"

namespace petrel::faults {
namespace {

namespace flat = schema::flat_data;
using runtime::EValue;
using runtime::Kernel;
using runtime::KernelArgs;
using runtime::KernelRuntimeContext;
using runtime::Span;
using runtime::Tensor;
using runtime::writes;

constexpr int32_t kTokens = 4096, kWidth = 4096, kInner = 11008, kWords = 32000;
constexpr int32_t kHeads = 32, kDepth = kWidth / kHeads;
constexpr int kLayers = 32;

// linear(x, weight, out)
void linear(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor x = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  if (x.size(1) != weight.size(1) || out.size(1) != weight.size(0) || x.size(0) != out.size(0)) {
    return context.fail(Error::InvalidArgument);
  }
  context.charge(out.numel(), static_cast<uint64_t>(x.size(1)));
}

// attention(query, keys, values, out), all of [heads, tokens, depth] in some shape
void attention(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor query = args.tensor(0);
  const Tensor keys = args.tensor(1);
  args.tensor(2);
  args.out(3);
  if (!args.ok()) return;
  context.charge(query.numel(), static_cast<uint64_t>(2 * keys.size(1)));
}

Span<const Kernel> paying_kernels() {
  static constexpr Kernel kKernels[] = {{"test::linear.out", &linear, writes(2)},
                                        {"test::attention.out", &attention, writes(3)}};
  return kKernels;
}

class Decoder {
 public:
  Decoder() {
    PlanRecipe& p = plan(recipe);
    p.values.clear();
    p.inputs.clear();
    p.operators = {{"test::linear", "out"}, {"test::attention", "out"}};
    p.chains = {{}};
    recipe.segments.clear();
    recipe.constants.reset();
    int32_t x = planned({kTokens, kWidth});
    const int32_t query = planned({kTokens, kWidth}), mixed = planned({kTokens, kWidth});
    const int32_t gate = planned({kTokens, kInner}), next = planned({kTokens, kWidth});
    for (int i = 0; i < kLayers; ++i) {
      const std::string layer = "layers." + std::to_string(i) + ".";
      const int32_t keys = planned({kHeads, kTokens, kDepth});
      const int32_t values = planned({kHeads, kTokens, kDepth});
      for (const char* name : {"k", "v", "q"}) {
        call(0, {x, weight(layer + name, {kWidth, kWidth}), query});
      }
      call(1, {query, keys, values, mixed});
      call(0, {mixed, weight(layer + "o", {kWidth, kWidth}), next});
      call(0, {next, weight(layer + "gate", {kInner, kWidth}), gate});
      call(0, {next, weight(layer + "up", {kInner, kWidth}), gate});
      call(0, {gate, weight(layer + "down", {kWidth, kInner}), x});
    }
    weight("words", {kWords, kWidth});
    const int32_t scores = planned({kTokens, kWords});
    call(0, {x, weight("head", {kWords, kWidth}), scores});
    p.outputs = {scores};
    p.arenas = {0, static_cast<int64_t>(planned_bytes)};
  }

  // The data file: what stands before the weights, and a hole for each.
  void write_data(const std::string& path) const {
    flatbuffers::FlatBufferBuilder b;
    std::vector<flatbuffers::Offset<flat::NamedData>> rows;
    std::vector<flatbuffers::Offset<flat::DataSegment>> segments;
    const std::vector<uint8_t> order = {0, 1};
    uint64_t end = 0;
    for (const Weight& weight : weights) {
      const auto layout =
          flat::CreateTensorLayoutDirect(b, flat::ScalarType::HALF, &weight.sizes, &order);
      rows.push_back(flat::CreateNamedDataDirect(b, weight.name.c_str(),
                                                 static_cast<uint32_t>(rows.size()), layout));
      segments.push_back(flat::CreateDataSegment(b, end, weight.bytes()));
      end += weight.bytes();
    }
    const auto all_segments = b.CreateVector(segments);
    b.Finish(flat::CreateFlatData(b, 0, all_segments, b.CreateVector(rows)),
             flat::FlatDataIdentifier());
    constexpr uint64_t kHeader = 48;
    const uint64_t base = (kHeader + b.GetSize() + 4095) / 4096 * 4096;
    std::string file(reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize());
    std::string header("FH01\x28\0\0\0", 8);
    for (const uint64_t number : {kHeader, uint64_t{b.GetSize()}, base, end, uint64_t{0}}) {
      for (int i = 0; i < 8; ++i) header += static_cast<char>(number >> 8 * i);
    }
    uint32_t root = 0;
    std::memcpy(&root, file.data(), sizeof(root));
    root += kHeader;
    std::memcpy(file.data(), &root, sizeof(root));
    file.insert(8, header);
    std::ofstream(path, std::ios::binary)
        .write(file.data(), static_cast<std::streamsize>(file.size()));
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(base + end)), 0);
  }

  uint64_t parameters() const {
    uint64_t sum = 0;
    for (const Weight& weight : weights) sum += weight.bytes() / 2;
    return sum;
  }

  Recipe recipe;
  uint64_t planned_bytes = 0;

 private:
  struct Weight {
    std::string name;
    std::vector<int32_t> sizes;
    uint64_t bytes() const {
      return uint64_t{2} * static_cast<uint64_t>(sizes[0]) * static_cast<uint64_t>(sizes[1]);
    }
  };

  int32_t add(ValueRecipe value) {
    value.scalar_type = static_cast<int8_t>(fb::ScalarType::HALF);
    add_value(recipe, std::move(value));
    return static_cast<int32_t>(plan(recipe).values.size() - 1);
  }
  int32_t planned(std::vector<int32_t> sizes) {
    uint64_t bytes = 4;  // room for float32
    for (const int32_t size : sizes) bytes *= static_cast<uint64_t>(size);
    const uint64_t offset = planned_bytes;
    planned_bytes += bytes;
    return add(planned_tensor(std::move(sizes), offset));
  }
  int32_t weight(const std::string& name, std::vector<int32_t> sizes) {
    weights.push_back({name, sizes});
    ValueRecipe value = planned_tensor(std::move(sizes), 0);
    value.place.reset();
    value.extra = ExtraRecipe{name, fb::TensorDataLocation::EXTERNAL, fb::DeviceType::CPU};
    return add(std::move(value));
  }
  void call(int32_t op, std::vector<int32_t> args) {
    InstructionRecipe instruction;
    instruction.first = op;
    instruction.args = std::move(args);
    plan(recipe).chains[0].push_back(instruction);
  }

  std::vector<Weight> weights;
};

TEST(LargeModelTest, IsBelowTheDefaultLimits) {
  const Decoder decoder;
  EXPECT_GT(decoder.parameters(), 6'700'000'000u);
  EXPECT_GT(decoder.planned_bytes, uint64_t{4} << 30);
  const std::string data = ::testing::TempDir() + "weights.ptd";
  decoder.write_data(data);
  const std::vector<uint8_t> file = build(decoder.recipe);
  static constexpr runtime::KernelLibrary kLibraries[] = {&paying_kernels};
  const runtime::Registry registry(kLibraries, {});
  extension::Module::Options options;
  options.registry = &registry;
  options.data_files = {data};
  auto module = extension::Module::load(file.data(), file.size(), options);
  ASSERT_TRUE(module.ok());
  ASSERT_EQ((*module)->load_method("forward"), Error::Ok);
  EXPECT_TRUE((*module)->execute("forward", {}).ok());
  // What it does is counted: less would not do.
  options.limits.max_element_operations = 25'000'000'000'000;
  QuietLog quiet;
  auto limited = extension::Module::load(file.data(), file.size(), options);
  ASSERT_TRUE(limited.ok());
  EXPECT_EQ((*limited)->execute("forward", {}).error(), Error::OutOfResources);
  unlink(data.c_str());
}

}  // namespace
}  // namespace petrel::faults
