// SPDX-License-Identifier: Apache-2.0
//
// Many methods on many threads at once: of one Program, and of Modules that
// share packed weights and the thread pool. Each result must equal, bit for bit,
// what one method alone computes.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "extension/data_loader/file_data_loader.h"
#include "extension/module/module.h"
#include "gtest/gtest.h"
#include "runtime/executor/program.h"
#include "runtime/threads/thread_count.h"

namespace petrel {
namespace {

using runtime::Error;
using runtime::EValue;
using runtime::HierarchicalAllocator;
using runtime::MemoryAllocator;
using runtime::MemoryManager;
using runtime::Method;
using runtime::Program;
using runtime::Result;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorImpl;

constexpr int kThreads = 6;
constexpr int kRounds = 8;
constexpr size_t kPixels = 64;

using Logits = std::vector<float>;

// Input number `index`: pixels that differ from those of every other one.
class Image {
 public:
  explicit Image(int index) {
    for (size_t i = 0; i < kPixels; ++i) {
      pixels_[i] = static_cast<float>((i * 7 + static_cast<size_t>(index) * 13) % 17) / 16.0f;
    }
  }
  EValue value() { return EValue(Tensor(&impl_)); }

 private:
  std::array<float, kPixels> pixels_;
  std::array<Tensor::SizesType, 4> sizes_ = {1, 1, 8, 8};
  std::array<Tensor::DimOrderType, 4> dim_order_ = {0, 1, 2, 3};
  std::array<Tensor::StridesType, 4> strides_ = {64, 64, 8, 1};
  TensorImpl impl_{runtime::ScalarType::Float,
                   4,
                   sizes_.data(),
                   pixels_.data(),
                   dim_order_.data(),
                   strides_.data()};
};

Logits copy(const EValue& value) {
  const Tensor tensor = value.toTensor();
  const float* data = tensor.const_data_ptr<float>();
  return Logits(data, data + tensor.numel());
}

// Memory for one method.
class Memory {
 public:
  explicit Memory(size_t arena_bytes)
      : pool_(64 * 1024),
        arena_(arena_bytes / sizeof(Line) + 1),
        span_{reinterpret_cast<uint8_t*>(arena_.data()), arena_bytes},
        temp_(32 * 1024 * 1024) {}
  MemoryManager* manager() { return &manager_; }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  std::vector<uint8_t> pool_;
  std::vector<Line> arena_;
  Span<uint8_t> span_;
  std::vector<uint8_t> temp_;
  MemoryAllocator allocator_{pool_.size(), pool_.data()};
  MemoryAllocator temp_allocator_{temp_.size(), temp_.data()};
  HierarchicalAllocator planned_{{&span_, 1}};
  MemoryManager manager_{&allocator_, &planned_, &temp_allocator_};
};

class ManyMethods : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(runtime::set_thread_count(3), Error::Ok); }
  void SetUp() override {
    path_ = std::string("test/threads/digits_") + GetParam() + ".pte";
    auto module = extension::Module::load(path_);
    ASSERT_TRUE(module.ok());
    for (int i = 0; i < kThreads; ++i) {
      Image image(i);
      const auto outputs = (*module)->forward({image.value()});
      ASSERT_TRUE(outputs.ok());
      alone_.push_back(copy((*outputs)[0]));
    }
  }

  std::string path_;
  std::vector<Logits> alone_;  // the logits of each image
};

TEST_P(ManyMethods, OfOneProgramComputeWhatEachAloneDoes) {
  auto loader = extension::FileDataLoader::from(path_.c_str());
  ASSERT_TRUE(loader.ok());
  const Result<Program> program = Program::load(&*loader);
  ASSERT_TRUE(program.ok());
  const size_t arena = program->method_meta("forward")->memory_planned_buffer_size(0).get();

  std::vector<std::vector<Logits>> found(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Image image(t);
      for (int round = 0; round < kRounds; ++round) {
        Memory memory(arena);
        Result<Method> method = program->load_method("forward", memory.manager());
        if (!method.ok()) return;
        for (int call = 0; call < 4; ++call) {
          if (method->set_input(image.value(), 0) != Error::Ok) return;
          if (method->execute() != Error::Ok) return;
          found[static_cast<size_t>(t)].push_back(copy(method->get_output(0)));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(found[t], std::vector<Logits>(kRounds * 4, alone_[t])) << "thread " << t;
  }
}

TEST_P(ManyMethods, OfModulesThatComeAndGoComputeWhatEachAloneDoes) {
  std::vector<std::vector<Logits>> found(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Image image(t);
      for (int round = 0; round < kRounds; ++round) {
        auto module = extension::Module::load(path_);
        if (!module.ok()) return;
        const auto outputs = (*module)->forward({image.value()});
        if (!outputs.ok()) return;
        found[static_cast<size_t>(t)].push_back(copy((*outputs)[0]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(found[t], std::vector<Logits>(kRounds, alone_[t])) << "thread " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ManyMethods, ::testing::Values("none", "xnnpack"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace petrel
