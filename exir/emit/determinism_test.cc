// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>

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
