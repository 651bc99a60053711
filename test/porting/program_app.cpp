// SPDX-License-Identifier: Apache-2.0
//
// An app in the habits of ExecuTorch's Program and Method, which owns all memory.
//
//   program_app PROGRAM.pte DATA.ptd
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "sdk.h"

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::FileDataLoader;
using executorch::extension::FlatTensorDataMap;
using executorch::extension::MallocMemoryAllocator;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Method;
using executorch::runtime::MethodMeta;
using executorch::runtime::Program;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::Tag;

namespace {

void list(const FlatTensorDataMap& map) {
  std::printf("%u keys\n", map.get_num_keys().get());
  size_t total = 0;
  for (uint32_t i = 0; i < map.get_num_keys().get(); ++i) {
    Result<const char*> key = map.get_key(i);
    if (!key.ok()) return;
    Result<FreeableBuffer> data = map.get_data(*key);
    if (!data.ok()) return;
    total += data->size();
    data->Free();
    std::printf("freed: %d\n", data->data() == nullptr);
  }
  std::printf("%zu bytes\n", total);
  std::printf("no key: %d\n", map.get_data("none").ok());
}

Error run(const Program& program, const FlatTensorDataMap& map) {
  Result<const char*> name = program.get_method_name(0);
  ET_CHECK_OK_OR_RETURN_ERROR(name.error(), "no method %d", 0);
  Result<MethodMeta> meta = program.method_meta(*name);
  ET_CHECK_OK_OR_RETURN_ERROR(meta.error());
  std::printf("%s: %zu inputs, %zu outputs, tag is tensor: %d\n", meta->name(), meta->num_inputs(),
              meta->num_outputs(), meta->input_tag(0).get() == Tag::Tensor);

  std::vector<std::unique_ptr<uint8_t[]>> memory;
  std::vector<Span<uint8_t>> arenas;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const size_t size = static_cast<size_t>(meta->memory_planned_buffer_size(i).get());
    memory.push_back(std::make_unique<uint8_t[]>(size));
    arenas.push_back({memory.back().get(), size});
  }
  HierarchicalAllocator planned({arenas.data(), arenas.size()});
  static uint8_t method_pool[256 * 1024];
  MemoryAllocator method_allocator(sizeof(method_pool), method_pool);
  MallocMemoryAllocator temp_allocator;
  MemoryManager manager(&method_allocator, &planned, &temp_allocator);

  Result<Method> method = program.load_method(*name, &manager, nullptr, &map);
  ET_CHECK_OK_OR_RETURN_ERROR(method.error(), "cannot load %s: %d", *name,
                              static_cast<int>(method.error()));
  std::printf("not set: %d\n", method->execute() == Error::Ok);

  int32_t sizes[] = {1, 1, 8, 8};
  uint8_t dim_order[] = {0, 1, 2, 3};
  int32_t strides[] = {64, 64, 8, 1};
  (void)strides;
  float data[64];
  for (int i = 0; i < 64; ++i) data[i] = static_cast<float>(i % 17) / 16.0f;
  TensorImpl impl(ScalarType::Float, 4, sizes, data, dim_order);
  ET_CHECK_OK_OR_RETURN_ERROR(method->set_input(EValue(Tensor(&impl)), 0));
  ET_CHECK_OK_OR_RETURN_ERROR(method->execute());
  EValue output;
  ET_CHECK_OK_OR_RETURN_ERROR(method->get_outputs(&output, 1));
  const Tensor scores = output.toTensor();
  for (size_t i = 0; i < static_cast<size_t>(scores.numel()); ++i) {
    std::printf("%.3f\n", static_cast<double>(scores.const_data_ptr<float>()[i]));
  }
  std::printf("output 1: %d\n", method->outputs_size() > 1);
  return Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  executorch::runtime::runtime_init();
  Result<FileDataLoader> loader = FileDataLoader::from(argv[1]);
  if (!loader.ok()) return 1;
  Result<FileDataLoader> data_loader = FileDataLoader::from(argv[2]);
  if (!data_loader.ok()) return 1;
  Result<FlatTensorDataMap> map = FlatTensorDataMap::load(&data_loader.get());
  if (!map.ok()) return 1;
  list(*map);

  Result<FreeableBuffer> head =
      loader->load(0, Program::kMinHeadBytes,
                   executorch::runtime::DataLoader::SegmentInfo(
                       executorch::runtime::DataLoader::SegmentInfo::Type::Program));
  std::printf("header: %d\n", Program::check_header(head->data(), head->size()) ==
                                  Program::HeaderStatus::CompatibleVersion);
  Result<Program> program =
      Program::load(&loader.get(), Program::Verification::InternalConsistency);
  if (!program.ok()) return 1;
  std::printf("%zu methods\n", program->num_methods());
  std::printf("no method: %d\n", program->method_meta("none").ok());
  const Error error = run(*program, *map);
  ET_LOG(Info, "ended with %d", static_cast<int>(error));
  std::printf("error %d\n", static_cast<int>(error));
  return error == Error::Ok ? 0 : 1;
}
