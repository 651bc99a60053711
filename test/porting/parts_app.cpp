// SPDX-License-Identifier: Apache-2.0
//
// An app that gives ExecuTorch's Program parts of its own: what reads files, allocates memory
// and finds weights.
//
//   parts_app PROGRAM.pte DATA.ptd
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "sdk.h"

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::extension::BufferDataLoader;
using executorch::extension::FlatTensorDataMap;
using executorch::extension::MallocMemoryAllocator;
using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::LoadBackendOptionsMap;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Method;
using executorch::runtime::MethodMeta;
using executorch::runtime::NamedDataMap;
using executorch::runtime::Program;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::TensorLayout;

namespace {

std::vector<char> bytes_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Copies what is asked for into memory of its own.
class CopyingLoader final : public DataLoader {
 public:
  explicit CopyingLoader(const std::vector<char>& bytes) : bytes_(bytes) {}

  ET_NODISCARD Result<FreeableBuffer> load(size_t offset, size_t size,
                                           const SegmentInfo& /*info*/) const override {
    if (offset + size > bytes_.size()) return Error::InvalidArgument;
    void* copy = nullptr;
    if (posix_memalign(&copy, 64, size + 1) != 0) return Error::MemoryAllocationFailed;
    std::memcpy(copy, bytes_.data() + offset, size);
    ++loads_;
    return FreeableBuffer(
        copy, size, [](void*, void* data, size_t) { std::free(data); }, nullptr);
  }
  ET_NODISCARD Result<size_t> size() const override { return bytes_.size(); }
  ET_NODISCARD Error load_into(size_t offset, size_t size, const SegmentInfo& /*info*/,
                               void* buffer) const override {
    if (offset + size > bytes_.size()) return Error::InvalidArgument;
    std::memcpy(buffer, bytes_.data() + offset, size);
    return Error::Ok;
  }
  int loads() const { return loads_; }

 private:
  const std::vector<char>& bytes_;
  mutable int loads_ = 0;
};

class CountingAllocator : public MemoryAllocator {
 public:
  CountingAllocator() : MemoryAllocator(0, nullptr) {}
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    total_ += size;
    return heap_.allocate(size, alignment);
  }
  void reset() override { heap_.reset(); }
  size_t total() const { return total_; }

 private:
  MallocMemoryAllocator heap_;
  size_t total_ = 0;
};

class ForwardingMap final : public NamedDataMap {
 public:
  explicit ForwardingMap(const NamedDataMap* map) : map_(map) {}
  Result<const TensorLayout> get_tensor_layout(std::string_view key) const override {
    return map_->get_tensor_layout(key);
  }
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    return map_->get_data(key);
  }
  Error load_data_into(std::string_view key, void* buffer, size_t size) const override {
    return map_->load_data_into(key, buffer, size);
  }
  Result<uint32_t> get_num_keys() const override { return map_->get_num_keys(); }
  Result<const char*> get_key(uint32_t index) const override { return map_->get_key(index); }

 private:
  const NamedDataMap* map_;
};

Error run(Method* method) {
  float pixels[64];
  for (int i = 0; i < 64; ++i) pixels[i] = static_cast<float>(i) / 64.0f;
  executorch::aten::SizesType sizes[] = {1, 1, 8, 8};
  executorch::aten::DimOrderType dim_order[] = {0, 1, 2, 3};
  executorch::aten::StridesType strides[] = {64, 64, 8, 1};
  executorch::aten::TensorImpl impl(ScalarType::Float, 4, sizes, pixels, dim_order, strides);
  executorch::aten::Tensor image(&impl);
  std::vector<EValue> inputs{EValue(image)};
  ET_CHECK_OK_OR_RETURN_ERROR(method->set_inputs(ArrayRef<EValue>(inputs.data(), inputs.size())));
  for (int round = 0; round < 2; ++round) ET_CHECK_OK_OR_RETURN_ERROR(method->execute());

  std::vector<EValue> outputs(method->outputs_size());
  ET_CHECK_OK_OR_RETURN_ERROR(method->get_outputs(outputs.data(), outputs.size()));
  for (EValue& output : outputs) {
    auto& scores = output.toTensor();
    for (size_t i = 0; i < static_cast<size_t>(scores.numel()); ++i) {
      std::printf("%.3f\n", static_cast<double>(scores.const_data_ptr<float>()[i]));
    }
    std::printf("as the caller's: %d\n",
                scores.sizes() == method->get_output(0).toTensor().sizes());
  }
  std::printf("no tracer: %d\n", method->get_event_tracer() == nullptr);
  std::printf("no attribute: %d\n", method->get_attribute("none").ok());
  return Error::Ok;
}

Error load_and_run(const Program& program, const NamedDataMap* map) {
  const char* name = ET_UNWRAP(program.get_method_name(0));
  Result<MethodMeta> meta = program.method_meta(name);
  ET_CHECK_OR_RETURN_ERROR(meta.ok(), InvalidProgram, "no method %s", name);
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  std::vector<Span<uint8_t>> arenas;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const auto size = static_cast<size_t>(ET_UNWRAP(meta->memory_planned_buffer_size(i)));
    memory.push_back(std::make_unique<uint8_t[]>(size));
    arenas.push_back({memory.back().get(), size});
  }
  HierarchicalAllocator planned({arenas.data(), arenas.size()});
  CountingAllocator method_allocator;
  MallocMemoryAllocator temp_allocator;
  MemoryManager manager(&method_allocator, &planned, &temp_allocator);
  LoadBackendOptionsMap options;
  Result<Method> method = program.load_method(name, &manager, nullptr, map, &options);
  ET_CHECK_OK_OR_RETURN_ERROR(method.error(), "cannot load %s", name);
  std::printf("%s allocates: %d\n", method->method_meta().name(), method_allocator.total() > 0);
  return run(&method.get());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  executorch::runtime::runtime_init();
  const std::vector<char> program_bytes = bytes_of(argv[1]);
  const std::vector<char> data_bytes = bytes_of(argv[2]);
  CopyingLoader loader(program_bytes);
  Result<Program> program = Program::load(&loader, Program::Verification::Minimal);
  if (!program.ok()) return 1;
  BufferDataLoader data_loader(data_bytes.data(), data_bytes.size());
  Result<FlatTensorDataMap> flat = FlatTensorDataMap::load(&data_loader);
  if (!flat.ok()) return 1;
  const ForwardingMap map(&flat.get());
  std::printf("no layout: %d\n", map.get_tensor_layout("none").ok());
  const Error error = load_and_run(*program, &map);
  std::printf("loaded: %d\n", loader.loads() > 0);
  return error == Error::Ok ? 0 : 1;
}
