// SPDX-License-Identifier: Apache-2.0
//
// A method without delegates runs in the memory that its program plans: nothing
// is taken from the heap, not even in the first execution, and no temporary
// allocator is given.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "extension/data_loader/file_data_loader.h"
#include "gtest/gtest.h"
#include "runtime/executor/program.h"
#include "runtime/threads/thread_count.h"

namespace {

std::atomic<size_t> allocations{0};

}  // namespace

// Every allocation of the process comes through these, those of libraries too.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) noexcept {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? 12 : 0;
}
}

namespace petrel::compile_and_run {
namespace {

using namespace petrel::runtime;  // NOLINT: a dozen of its names

struct Arena {
  explicit Arena(size_t size) : memory(size + 64) {
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    span = {memory.data() + (64 - address % 64) % 64, size};
  }
  std::vector<uint8_t> memory;
  Span<uint8_t> span;
};

// Sets every tensor input to zeros of its kind, in memory that `inputs` keeps.
// `batch` is their dim 0 where it is not 0; other sizes are the largest.
void set_inputs(Method& method, int32_t batch, std::vector<std::vector<uint8_t>>* inputs) {
  const MethodMeta meta = method.method_meta();
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    const TensorInfo info = meta.input_tensor_meta(i).get();
    inputs->emplace_back(info.nbytes());
    std::vector<int32_t> sizes(info.sizes().begin(), info.sizes().end());
    if (batch != 0) sizes[0] = batch;
    std::vector<uint8_t> order(info.dim_order().begin(), info.dim_order().end());
    TensorImpl tensor(info.scalar_type(), static_cast<ssize_t>(sizes.size()), sizes.data(),
                      inputs->back().data(), order.data());
    ASSERT_EQ(method.set_input(Tensor(&tensor), i), Error::Ok);
  }
}

void run_all_methods(const std::string& name, size_t* num_scratch, int32_t batch = 0) {
  SCOPED_TRACE(name);
  const std::string path = "test/compile_and_run/" + name + ".pte";
  auto loader = extension::FileDataLoader::from(path.c_str());
  ASSERT_TRUE(loader.ok());
  const Result<Program> program = Program::load(&*loader);
  ASSERT_TRUE(program.ok());
  for (size_t m = 0; m < program->num_methods(); ++m) {
    const char* const method_name = program->get_method_name(m).get();
    const MethodMeta meta = program->method_meta(method_name).get();
    std::vector<Arena> arenas;
    std::vector<Span<uint8_t>> spans;
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      arenas.emplace_back(meta.memory_planned_buffer_size(i).get());
      spans.push_back(arenas.back().span);
    }
    HierarchicalAllocator planned({spans.data(), spans.size()});
    std::vector<uint8_t> pool(1 << 20);
    MemoryAllocator method_allocator(pool.size(), pool.data());
    MemoryManager memory(&method_allocator, &planned);
    Result<Method> method = program->load_method(method_name, &memory);
    ASSERT_TRUE(method.ok());
    std::vector<std::vector<uint8_t>> inputs;
    set_inputs(*method, batch, &inputs);
    const size_t before = allocations;
    const Error error = method->execute();
    const size_t after = allocations;
    EXPECT_EQ(error, Error::Ok) << method_name;
    EXPECT_EQ(after - before, 0u) << method_name;

    *num_scratch += program->additions().num_scratch(static_cast<uint32_t>(m));
  }
}

TEST(NoAllocation, CountsThoseThereAre) {
  const size_t before = allocations;
  delete new std::string(1000, 'a');
  std::free(std::calloc(10, 10));
  EXPECT_GE(allocations - before, 3u);
}

TEST(NoAllocation, ExecutionTakesNothingFromTheHeap) {
  ASSERT_EQ(set_thread_count(1), Error::Ok);
  size_t num_scratch = 0;
  for (const char* name : {"conv_bn_relu.none", "decoder.none", "digits.none", "norms.none",
                           "pools.none", "split_chunk.none"}) {
    run_all_methods(name, &num_scratch);
  }
  // At least the pools work with temporary memory, and it is planned.
  EXPECT_GE(num_scratch, 2u);
}

TEST(NoAllocation, NorDoCallsOfAnySizeWhereSizesVary) {
  ASSERT_EQ(set_thread_count(1), Error::Ok);
  for (const int32_t batch : {1, 5, 6}) {
    size_t num_scratch = 0;
    run_all_methods("cnn_batch.none", &num_scratch, batch);
    EXPECT_EQ(num_scratch, 1u);  // of its pool
  }
}

}  // namespace
}  // namespace petrel::compile_and_run
