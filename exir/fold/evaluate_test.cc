// SPDX-License-Identifier: Apache-2.0
#include "exir/fold/evaluate.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "exir/fold/heap_allocator.h"
#include "exir/fold/string_loader.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 1, 2, 3, ...
ConstantPtr counting(const std::string& fqn, const TensorType& type) {
  auto made = std::make_shared<Constant>();
  made->fqn = fqn;
  made->type = type;
  std::vector<float> values;
  for (int64_t i = 0; i < type.numel(); ++i) {
    values.push_back(static_cast<float>(i + 1));
  }
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  made->data = Blob::owned(std::move(bytes));
  return made;
}

std::unique_ptr<Graph> graph_of(const std::string& text) {
  auto graph = parse_graph(
      text, [](absl::string_view name) { return find_op(name); }, counting);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

std::vector<float> floats(const Blob& blob) {
  std::vector<float> values(blob.size() / sizeof(float));
  std::memcpy(values.data(), blob.bytes().data(), blob.size());
  return values;
}

// Behind a constant whose end is not aligned there would be no place for it.
TEST(Evaluate, TakesConstantsWithoutElements) {
  const auto outputs = evaluate(graph_of(R"(method @m() {
    %w = constant @w : f32[1]
    %e = constant @e : f32[0,3]
    %s = aten.add.Tensor(%w, %e)
    return %w, %s
  })"));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(floats((*outputs)[0]), ElementsAre(1));
  EXPECT_EQ((*outputs)[1].size(), 0u);
}

TEST(Evaluate, RunsTheKernels) {
  auto outputs = evaluate(graph_of(R"(method @m() {
    %w = constant @w : f32[2,3]
    %v = constant @v : f32[3]
    %t = aten.permute.default(%w, [1, 0])
    %s = aten.mul.Tensor(%w, %v)
    %m = aten.mm.default(%w, %t)
    %r = aten.view.default(%s, [6])
    return %r, %m
  })"));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 2u);
  EXPECT_THAT(floats((*outputs)[0]), ElementsAre(1, 4, 9, 4, 10, 18));
  EXPECT_THAT(floats((*outputs)[1]), ElementsAre(14, 32, 32, 77));
}

TEST(Evaluate, RunsFactoriesAndSeveralResults) {
  auto outputs = evaluate(graph_of(R"(method @m() {
    %a = aten.arange.start_step(0, 4, 1, dtype=f32)
    %v, %i = aten.max.dim(%a, 0, true)
    return %v, %a
  })"));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(floats((*outputs)[0]), ElementsAre(3));
  EXPECT_THAT(floats((*outputs)[1]), ElementsAre(0, 1, 2, 3));
}

TEST(Evaluate, GivesEmptyTensors) {
  auto outputs = evaluate(graph_of(R"(method @m() {
    %w = constant @w : f32[2,3]
    %s = aten.slice.Tensor(%w, 0, 1, 1, 1)
    %n = aten.neg.default(%s)
    return %n
  })"));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].size(), 0u);
}

TEST(Evaluate, ReportsWhatTheRuntimeRefuses) {
  auto outputs = evaluate(graph_of(R"(method @m() {
    %w = constant @w : f32[2,3]
    %i = aten.full.default([1], 7, dtype=i64)
    %y = aten.index_select.default(%w, 0, %i)
    return %y
  })"));
  EXPECT_THAT(std::string(outputs.status().message()),
              HasSubstr("folding constants: running: InvalidArgument"));
}

// What the graph asks for would take the reference kernels a quarter of an hour and more.
TEST(Evaluate, EndsBeforeWorkThatTakesTooLong) {
  const char* const text = R"(method @m() {
    %a = aten.full.default([7000, 7000], 1.0, dtype=f32)
    %y = aten.mm.default(%a, %a)
    return %y
  })";
  auto outputs = evaluate(graph_of(text));
  EXPECT_EQ(outputs.status().code(), absl::StatusCode::kResourceExhausted) << outputs.status();
  EXPECT_THAT(std::string(outputs.status().message()),
              HasSubstr("takes more than 68719476736 elements and multiply-adds"));
}

TEST(Evaluate, KnowsWhatHasAKernel) {
  EXPECT_TRUE(can_evaluate(op("aten.exp.default")));
  EXPECT_TRUE(can_evaluate(op("aten.permute.default")));
  EXPECT_FALSE(can_evaluate(op("aten.sort.default")));
  EXPECT_FALSE(can_evaluate(op("aten.relu_.default")));
  EXPECT_FALSE(can_evaluate(op("aten.rand.default")));
  EXPECT_FALSE(can_evaluate(op("aten.native_dropout.default")));
}

TEST(HeapAllocator, AlignsAndRefusesWhatCannotBe) {
  HeapAllocator heap;
  for (size_t alignment : {size_t{1}, size_t{64}, size_t{4096}}) {
    for (size_t size : {size_t{0}, size_t{1}, size_t{100}}) {
      void* memory = heap.allocate(size, alignment);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
    }
  }
  EXPECT_EQ(heap.allocate(8, 3), nullptr);
  EXPECT_EQ(heap.allocate(~size_t{0}, 16), nullptr);
}

TEST(StringLoader, GivesAlignedBytesFromAnywhere) {
  const std::string bytes = "0123456789abcdefghijklmnopqrstuvwxyz";
  StringLoader loader(bytes);
  for (size_t offset = 0; offset <= bytes.size(); ++offset) {
    auto buffer = loader.load(offset, bytes.size() - offset, {});
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 16, 0u);
    EXPECT_EQ(std::memcmp(buffer->data(), bytes.data() + offset, buffer->size()), 0);
  }
  EXPECT_FALSE(loader.load(30, 7, {}).ok());
  EXPECT_FALSE(loader.load(~size_t{0}, 2, {}).ok());
  char out[4];
  EXPECT_EQ(loader.load_into(34, 4, {}, out), runtime::Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::exir
