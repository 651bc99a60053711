// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exir/emit/emit.h"
#include "exir/emit/test_graphs.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

constexpr char kWriteTo[] = "PETREL_TEST_WRITE_TO";

using testing::add;
using testing::emit_files;
using testing::f32;
using testing::f32_constant;
using testing::relu;
using testing::view;

// Two methods of many constants, views and outputs. The junk gives every
// object another address.
std::string emit_everything(size_t junk) {
  std::vector<std::unique_ptr<char[]>> noise;
  Program program;
  std::mt19937 random(7);
  for (const char* name : {"one", "two"}) {
    auto graph = std::make_unique<Graph>(name);
    std::vector<Value*> values = {graph->add_input(f32({3, 4}), "x")};
    std::vector<Value*> outputs;
    for (int i = 0; i < 40; ++i) {
      noise.push_back(std::make_unique<char[]>(1 + junk * (i % 7)));
      Value* a = values[random() % values.size()];
      Value* w = graph->add_constant(f32_constant(
          "w" + std::to_string(i), {3, 4}, std::vector<float>(12, static_cast<float>(i % 11))));
      Value* sum = add(*graph, a, w);
      values.push_back(i % 3 == 0 ? relu(*graph, sum) : sum);
      if (i % 5 == 0) outputs.push_back(view(*graph, a, {12}));
    }
    outputs.push_back(values.back());
    graph->set_outputs(std::move(outputs));
    program.methods[name].graph = std::move(graph);
  }
  RoutedBlobStore store;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(*store.add_named_blob("k" + std::to_string(i),
                                      Blob::owned({static_cast<uint8_t>(i % 13)}), 16,
                                      i % 2 == 0 ? "" : "x.ptd"));
  }
  EmitOptions options;
  options.external_weights = "w.ptd";
  auto files = emit_files(program, store, options);
  EXPECT_TRUE(files.ok()) << files.status();
  std::string all;
  for (const auto& [file, bytes] : *files) all += file + "\n" + bytes;
  return all;
}

// Enough bytes for threads; two weights are equal, one is in two files, and one is made on demand.
TEST(Determinism, EveryNumberOfThreadsWritesTheSameBytesAndDigests) {
  constexpr int64_t kCount = 1 << 18;
  const auto emit = [](size_t threads) {
    auto graph = std::make_unique<Graph>("forward");
    Value* sum = graph->add_input(f32({kCount}), "x");
    for (int i = 0; i < 8; ++i) {
      auto weight = f32_constant("w" + std::to_string(i), {kCount},
                                 std::vector<float>(kCount, static_cast<float>(i % 7)));
      if (i == 3) {
        auto made = std::make_shared<Constant>(*weight);
        made->data = Blob::produced(weight->data.size(), [weight](absl::Span<uint8_t> out) {
          const Blob::Bytes bytes = weight->data.bytes();
          std::copy_n(bytes.data(), bytes.size(), out.data());
        });
        weight = made;
      }
      if (i == 4) {
        auto twin = std::make_shared<Constant>(*weight);
        twin->fqn = "twin";
        sum = add(*graph, sum, graph->add_constant(twin));
      }
      sum = add(*graph, sum, graph->add_constant(weight));
    }
    graph->set_outputs({sum});
    WeightRoutes routes;
    routes.default_file = "w.ptd";
    routes.rules = {{"twin", "twin.ptd"}};
    RoutedBlobStore store(routes);
    EmitOptions options;
    options.bind_data = true;
    options.threads = threads;
    auto files = emit_files(testing::program_of(std::move(graph)), store, options);
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  };
  const testing::Files one = emit(1);
  EXPECT_EQ(one.size(), 3u);
  const Blob fives = f32_constant("", {kCount}, std::vector<float>(kCount, 5))->data;
  const Sha256 digest = fives.sha256();
  EXPECT_NE(one.at("").find(std::string(digest.begin(), digest.end())), std::string::npos);
  for (const size_t threads : {2, 3, 8}) EXPECT_TRUE(emit(threads) == one) << threads << " threads";
}

TEST(Determinism, WritesItsBytesWhereAskedTo) {
  const char* path = getenv(kWriteTo);
  if (path == nullptr) GTEST_SKIP() << "runs inside the test below";
  std::ofstream(path, std::ios::binary) << emit_everything(1000);
}

TEST(Determinism, TwoProcessesWriteTheSameBytes) {
  const std::string path = ::testing::TempDir() + "/determinism_" + std::to_string(getpid());
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
  ASSERT_GT(length, 0);
  const std::string command = std::string(kWriteTo) + "=" + path + " " +
                              std::string(self, static_cast<size_t>(length)) +
                              " --gtest_filter=Determinism.WritesItsBytesWhereAskedTo > /dev/null";
  ASSERT_EQ(system(command.c_str()), 0);
  std::ifstream file(path, std::ios::binary);
  const std::string other{std::istreambuf_iterator<char>(file), {}};
  unlink(path.c_str());
  EXPECT_GT(other.size(), 5000u);
  EXPECT_TRUE(other == emit_everything(1));
}

}  // namespace
}  // namespace petrel::exir
