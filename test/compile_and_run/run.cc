// SPDX-License-Identifier: Apache-2.0
#include "test/compile_and_run/run.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "gtest/gtest.h"
#include "runtime/executor/program.h"

namespace petrel::compile_and_run {
namespace {

using namespace petrel::runtime;  // NOLINT: a dozen of its names

using ArenaPtr = std::unique_ptr<uint8_t, decltype(&std::free)>;

// Zeros, at the alignment that programs expect.
ArenaPtr make_arena(size_t size) {
  const size_t rounded = (size + 63) / 64 * 64;
  ArenaPtr arena(static_cast<uint8_t*>(std::aligned_alloc(64, rounded)), &std::free);
  std::memset(arena.get(), 0, rounded);
  return arena;
}

}  // namespace

struct LoadedMethod::State {
  State(const Files& files, const std::string& name)
      : loader(files.at("").data(), files.at("").size()),
        method_memory(1 << 20),
        temp_memory(1 << 20),
        method_allocator(method_memory.size(), method_memory.data()),
        temp_allocator(temp_memory.size(), temp_memory.data()) {
    error = load(files, name);
  }

  Error load(const Files& files, const std::string& name) {
    const NamedDataMap* map = nullptr;
    for (const auto& [destination, bytes] : files) {
      if (destination.empty()) continue;
      data_loader.emplace(bytes.data(), bytes.size());
      Result<extension::FlatDataMap> loaded = extension::FlatDataMap::load(&*data_loader);
      if (!loaded.ok()) return loaded.error();
      data.emplace(std::move(*loaded));
      map = &*data;
    }
    Result<Program> loaded = Program::load(&loader);
    if (!loaded.ok()) return loaded.error();
    program.emplace(std::move(*loaded));
    Result<MethodMeta> meta = program->method_meta(name);
    if (!meta.ok()) return meta.error();
    for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
      const size_t size = meta->memory_planned_buffer_size(i).get();
      arenas.push_back(make_arena(size));
      spans.emplace_back(arenas.back().get(), size);
    }
    planned.emplace(Span<Span<uint8_t>>(spans.data(), spans.size()));
    memory.emplace(&method_allocator, &*planned, &temp_allocator);
    Result<Method> made = program->load_method(name, &*memory, nullptr, map);
    if (!made.ok()) return made.error();
    method.emplace(std::move(*made));
    return Error::Ok;
  }

  extension::BufferDataLoader loader;
  std::optional<extension::BufferDataLoader> data_loader;
  std::optional<extension::FlatDataMap> data;
  std::vector<uint8_t> method_memory;
  std::vector<uint8_t> temp_memory;
  MemoryAllocator method_allocator;
  MemoryAllocator temp_allocator;
  std::optional<Program> program;
  std::vector<ArenaPtr> arenas;
  std::vector<Span<uint8_t>> spans;
  std::optional<HierarchicalAllocator> planned;
  std::optional<MemoryManager> memory;
  std::optional<Method> method;
  Error error = Error::Internal;
};

LoadedMethod::LoadedMethod(const Files& files, const std::string& name)
    : state_(std::make_unique<State>(files, name)) {}

LoadedMethod::~LoadedMethod() = default;

Error LoadedMethod::error() const { return state_->error; }

void LoadedMethod::fill(uint8_t byte) {
  for (const Span<uint8_t>& span : state_->spans) std::memset(span.data(), byte, span.size());
}

std::vector<std::vector<float>> LoadedMethod::run(const std::vector<std::vector<float>>& inputs) {
  Method& method = *state_->method;
  const MethodMeta meta = method.method_meta();
  EXPECT_EQ(meta.num_inputs(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo info = meta.input_tensor_meta(i).get();
    std::vector<int32_t> sizes(info.sizes().begin(), info.sizes().end());
    std::vector<uint8_t> order(info.dim_order().begin(), info.dim_order().end());
    TensorImpl tensor(info.scalar_type(), static_cast<ssize_t>(sizes.size()), sizes.data(),
                      const_cast<float*>(inputs[i].data()), order.data());
    EXPECT_EQ(tensor.nbytes(), inputs[i].size() * sizeof(float));
    EXPECT_EQ(method.set_input(Tensor(&tensor), i), Error::Ok);
  }
  EXPECT_EQ(method.execute(), Error::Ok);
  std::vector<std::vector<float>> outputs;
  for (size_t i = 0; i < method.outputs_size(); ++i) {
    const Tensor tensor = method.get_output(i).toTensor();
    const float* begin = tensor.const_data_ptr<float>();
    outputs.emplace_back(begin, begin + tensor.numel());
  }
  return outputs;
}

}  // namespace petrel::compile_and_run
