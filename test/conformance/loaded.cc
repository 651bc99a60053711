// SPDX-License-Identifier: Apache-2.0
#include "test/conformance/loaded.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "gtest/gtest.h"
#include "runtime/kernels/portable/kernels.h"
#include "test/conformance/watched_backend.h"

namespace petrel::conformance {
namespace {

using runtime::Error;
using runtime::Result;
using runtime::Span;

constexpr runtime::KernelLibrary kKernels[] = {&runtime::portable_kernels};
constexpr runtime::BackendLibrary kBackends[] = {&watched_backend};
constexpr runtime::Registry kRegistry(kKernels, kBackends);

// Blocks of exactly the sizes asked for, so that a sanitizer sees the first
// byte beyond.
class BlockAllocator final : public runtime::MemoryAllocator {
 public:
  explicit BlockAllocator(int64_t fail) : MemoryAllocator(0, nullptr), fail_(fail) {}
  ~BlockAllocator() override { reset(); }

  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    if (count_++ == fail_) return nullptr;
    void* block = nullptr;
    if (posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) != 0) {
      return nullptr;
    }
    blocks_.push_back(block);
    return block;
  }
  void reset() override {
    for (void* block : blocks_) std::free(block);
    blocks_.clear();
  }
  int64_t count() const { return count_; }

 private:
  int64_t fail_;
  int64_t count_ = 0;
  std::vector<void*> blocks_;
};

}  // namespace

struct LoadedProgram::State {
  explicit State(const std::string& bytes) : loader(bytes.data(), bytes.size()) {}
  extension::BufferDataLoader loader;
  std::optional<extension::BufferDataLoader> data_loader;
  std::optional<extension::FlatDataMap> data;
  std::optional<runtime::Program> program;
  Error error = Error::Ok;
};

LoadedProgram::LoadedProgram(const Files& files, bool with_data, const runtime::Registry* registry)
    : state_(std::make_unique<State>(files.at(""))) {
  for (const auto& [destination, bytes] : files) {
    if (destination.empty() || !with_data) continue;
    state_->data_loader.emplace(bytes.data(), bytes.size());
    Result<extension::FlatDataMap> data = extension::FlatDataMap::load(&*state_->data_loader);
    if (!data.ok()) {
      state_->error = data.error();
      return;
    }
    state_->data.emplace(std::move(*data));
  }
  runtime::ProgramOptions options;
  options.registry = registry == nullptr ? &kRegistry : registry;
  Result<runtime::Program> program = runtime::Program::load(&state_->loader, options);
  state_->error = program.ok() ? Error::Ok : program.error();
  if (program.ok()) state_->program.emplace(std::move(*program));
}

LoadedProgram::~LoadedProgram() = default;
Error LoadedProgram::error() const { return state_->error; }
const runtime::Program& LoadedProgram::program() const { return *state_->program; }
const runtime::NamedDataMap* LoadedProgram::data() const {
  return state_->data ? &*state_->data : nullptr;
}

struct LoadedMethod::State {
  explicit State(const LoadSettings& settings)
      : method_memory(settings.fail_allocation),
        temp(settings.temp_bytes),
        temp_memory(temp.size(), temp.data()) {}
  ~State() {
    method.reset();
    for (Span<uint8_t> span : spans) std::free(span.data());
  }

  BlockAllocator method_memory;
  std::vector<uint8_t> temp;
  runtime::MemoryAllocator temp_memory;
  std::vector<Span<uint8_t>> spans;
  std::optional<runtime::HierarchicalAllocator> planned;
  std::optional<runtime::MemoryManager> memory;
  std::optional<runtime::Method> method;
  Error error = Error::Ok;
};

LoadedMethod::LoadedMethod(const LoadedProgram& program, const std::string& name,
                           const LoadSettings& settings)
    : state_(std::make_unique<State>(settings)) {
  State& state = *state_;
  Result<runtime::MethodMeta> meta = program.program().method_meta(name);
  if (!meta.ok()) {
    state.error = meta.error();
    return;
  }
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const size_t size = meta->memory_planned_buffer_size(i).get();
    auto* const arena = static_cast<uint8_t*>(std::aligned_alloc(64, (size + 63) / 64 * 64));
    std::memset(arena, 0, size);
    state.spans.emplace_back(arena, size);
  }
  state.planned.emplace(Span<Span<uint8_t>>(state.spans.data(), state.spans.size()));
  state.memory.emplace(&state.method_memory, &*state.planned, &state.temp_memory);
  Result<runtime::Method> method = program.program().load_method(name, &*state.memory, nullptr,
                                                                 program.data(), settings.options);
  state.error = method.ok() ? Error::Ok : method.error();
  if (method.ok()) state.method.emplace(std::move(*method));
}

LoadedMethod::~LoadedMethod() = default;
Error LoadedMethod::error() const { return state_->error; }
int64_t LoadedMethod::allocations() const { return state_->method_memory.count(); }

Error LoadedMethod::run(const std::vector<Elements>& inputs, std::vector<Elements>* outputs) {
  const runtime::MethodMeta meta = state_->method->method_meta();
  std::vector<exir::Sizes> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const runtime::TensorInfo info = meta.input_tensor_meta(i).get();
    sizes.emplace_back(info.sizes().begin(), info.sizes().end());
    if (info.shape_dynamism() == runtime::TensorShapeDynamism::STATIC) continue;
    const auto most = static_cast<int64_t>(info.nbytes() / sizeof(float));
    sizes[i][0] = static_cast<int64_t>(inputs[i].size()) / (most / sizes[i][0]);
  }
  std::vector<exir::Sizes> output_sizes;
  return run(inputs, sizes, outputs, &output_sizes);
}

Error LoadedMethod::run(const std::vector<Elements>& inputs,
                        const std::vector<exir::Sizes>& input_sizes, std::vector<Elements>* outputs,
                        std::vector<exir::Sizes>* output_sizes) {
  runtime::Method& method = *state_->method;
  const runtime::MethodMeta meta = method.method_meta();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const runtime::TensorInfo info = meta.input_tensor_meta(i).get();
    std::vector<int32_t> sizes(input_sizes[i].begin(), input_sizes[i].end());
    std::vector<uint8_t> order(info.dim_order().begin(), info.dim_order().end());
    runtime::TensorImpl tensor(info.scalar_type(), static_cast<ssize_t>(sizes.size()), sizes.data(),
                               const_cast<float*>(inputs[i].data()), order.data());
    PETREL_RETURN_IF_ERROR(method.set_input(runtime::Tensor(&tensor), i));
  }
  PETREL_RETURN_IF_ERROR(method.execute());
  outputs->clear();
  output_sizes->clear();
  for (size_t i = 0; i < method.outputs_size(); ++i) {
    const runtime::Tensor tensor = method.get_output(i).toTensor();
    const float* begin = tensor.const_data_ptr<float>();
    outputs->emplace_back(begin, begin + tensor.numel());
    output_sizes->emplace_back(tensor.sizes().begin(), tensor.sizes().end());
  }
  return Error::Ok;
}

std::vector<Elements> load_and_run(const Files& files, const std::string& method,
                                   const std::vector<Elements>& inputs) {
  std::vector<Elements> outputs;
  const LoadedProgram program(files);
  EXPECT_EQ(program.error(), Error::Ok);
  if (program.error() != Error::Ok) return outputs;
  LoadedMethod loaded(program, method);
  EXPECT_EQ(loaded.error(), Error::Ok);
  if (loaded.error() != Error::Ok) return outputs;
  EXPECT_EQ(loaded.run(inputs, &outputs), Error::Ok);
  return outputs;
}

}  // namespace petrel::conformance
