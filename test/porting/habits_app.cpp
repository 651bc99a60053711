// SPDX-License-Identifier: Apache-2.0
//
// Habits of ExecuTorch's apps that the other apps here do not have: a Module of the app's own,
// loaders and their options, elements of 16 bits, names of types and tags.
//
//   habits_app PROGRAM.pte
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "sdk.h"

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::FileDataLoader;
using executorch::extension::from_blob;
using executorch::extension::make_tensor_accessor;
using executorch::extension::make_tensor_ptr;
using executorch::extension::MmapDataLoader;
using executorch::extension::Module;
using executorch::extension::SharedPtrDataLoader;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Program;
using executorch::runtime::Result;

namespace {

class CountingModule final : public executorch::extension::module::Module {
 public:
  using Module::execute;
  using Module::Module;
  Result<std::vector<EValue>> execute(const std::string& name,
                                      const std::vector<EValue>& inputs) override {
    ++calls_;
    return Module::execute(name, inputs);
  }
  int calls() const { return calls_; }

 private:
  int calls_ = 0;
};

ET_NODISCARD ET_INLINE bool is_digit(ET_UNUSED int digit) {
  ET_CHECK_OR_RETURN_FALSE(digit >= 0 && digit < 10, "%d is no digit", digit);
  if ET_UNLIKELY (digit == 10) ET_ASSERT_UNREACHABLE();
  ET_DCHECK_MSG(digit < 10, "%d", digit);
  return true;
}

// What LLM runners do with logits.
template <typename T>
int largest(const Tensor& tensor) {
  const T* numbers = tensor.const_data_ptr<T>();
  int best = 0;
  for (int i = 1; i < static_cast<int>(tensor.numel()); ++i) {
    if (numbers[i] > numbers[best]) best = i;
  }
  return best;
}

int largest_of(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case ScalarType::Float:
      return largest<float>(tensor);
    case ScalarType::Half:
      return largest<Half>(tensor);
    case ScalarType::BFloat16:
      return largest<BFloat16>(tensor);
    default:
      ET_CHECK_MSG(false, "type %hhd", static_cast<int8_t>(tensor.scalar_type()));
  }
  return -1;
}

void print_types() {
  for (const ScalarType type : {ScalarType::Byte, ScalarType::Int, ScalarType::Long,
                                ScalarType::Half, ScalarType::Float, ScalarType::BFloat16,
                                ScalarType::Bool, ScalarType::UInt16, ScalarType::Bits16}) {
    std::printf("%s: %zu %d %d %d %d\n", executorch::runtime::toString(type),
                executorch::runtime::elementSize(type), executorch::runtime::isValid(type),
                executorch::runtime::isIntegralType(type, true),
                executorch::runtime::isFloatingType(type), executorch::runtime::isRealType(type));
  }
  std::printf("%d %d\n",
              executorch::runtime::CppTypeToScalarType<int64_t>::value == ScalarType::Long,
              executorch::runtime::CppTypeToScalarType<Half>::value == ScalarType::Half);
  const executorch::runtime::ScalarTypeToCppType<ScalarType::Double>::type half = 0.5;
  char name[executorch::runtime::kTagNameBufferSize];
  const size_t length = executorch::runtime::tag_to_string(EValue(half).tag, name, sizeof(name));
  std::printf("%s %zu %s\n", name, length, executorch::runtime::tag_to_string(EValue(true).tag));
}

void print_narrow() {
  const auto halves = make_tensor_ptr({3}, std::vector<Half>{0.5f, 65504.0f, 2049.0f});
  const auto bfloats = make_tensor_ptr(std::vector<BFloat16>{1.0f, 3.1415926f, -2.0f});
  for (const TensorPtr& tensor : {halves, bfloats}) {
    std::printf("%s of %zu bytes, the largest is %d\n",
                executorch::runtime::toString(tensor->scalar_type()),
                static_cast<size_t>(tensor->nbytes()), largest_of(*tensor));
  }
  std::printf("%g %g %g\n", static_cast<double>(halves->const_data_ptr<Half>()[2]),
              static_cast<double>(bfloats->const_data_ptr<BFloat16>()[1]),
              static_cast<double>(halves->const_data_ptr<Half>()[0] + Half(1.25f)));
}

void print_accessor() {
  auto table = make_tensor_ptr({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  auto rows = make_tensor_accessor<float, 2>(*table);
  if (!rows.ok()) return;
  (*rows)[1][0] = 40;
  std::printf("%g %g %d %d\n", static_cast<double>(rows.get()[1][0]),
              static_cast<double>(table->const_data_ptr<float>()[3]),
              static_cast<int>(rows->size(1)), static_cast<int>(rows->stride(0)));
  const auto wrong = make_tensor_accessor<float, 1>(*table);
  const auto narrow = make_tensor_accessor<Half, 2>(*table);
  std::printf("%d %d\n", wrong.ok(), narrow.ok());
}

// What backends do with memory and apps with values that may be none.
void print_values() {
  executorch::extension::MallocMemoryAllocator allocator;
  auto* const handle = allocator.allocateInstance<int64_t>();
  auto* const list = allocator.allocateList<float>(5);
  std::printf("%d %d %d\n", handle != nullptr, list != nullptr,
              allocator.allocateList<int64_t>(SIZE_MAX / 2) != nullptr);
  const auto table = make_tensor_ptr({2, 3}, {1, 2, 3, 4, 5, 6});
  std::printf("%d %d\n", static_cast<int>(table->sizes().at(1)),
              table->sizes().equals(make_tensor_ptr(table)->sizes()));
  const EValue number(int64_t{7}), none, tensor(table);
  std::printf("%d %d %d\n", number.tryTo<int64_t>().ok(), number.tryTo<double>().ok(),
              static_cast<int>(tensor.tryTo<Tensor>()->numel()));
  std::printf("%d %d %d\n", number.toOptional<int64_t>().has_value(),
              none.toOptional<Tensor>().has_value(), none.tryToOptional<double>()->has_value());
}

TensorPtr image() {
  std::vector<float> pixels(64);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % 17) / 16.0f;
  return make_tensor_ptr({1, 1, 8, 8}, std::move(pixels));
}

void classify(const char* what, Module* module) {
  const auto scores = module->forward(image());
  if (!scores.ok()) {
    std::printf("%s: error 0x%" PRIx32 "\n", what,
                static_cast<executorch::runtime::error_code_t>(scores.error()));
    return;
  }
  const int digit = largest_of(scores->at(0).toTensor());
  std::printf("%s: %d %d\n", what, digit, is_digit(digit));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  executorch::runtime::runtime_init();
  print_types();
  print_narrow();
  print_accessor();
  print_values();
  std::printf("%d\n", is_digit(12));

  auto file = FileDataLoader::from(argv[1], 16);
  if (!file.ok()) return 1;
  Module by_file(std::make_unique<FileDataLoader>(std::move(file.get())));
  classify("file", &by_file);
  auto mapped = MmapDataLoader::from(argv[1], MmapDataLoader::MlockConfig::NoMlock);
  if (!mapped.ok()) return 1;
  std::printf("bytes: %d\n", mapped->size().get() > 0);
  Module by_mapping(std::make_unique<MmapDataLoader>(std::move(*mapped)));
  classify("mapped", &by_mapping);
  std::ifstream stream(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  std::shared_ptr<void> shared(std::aligned_alloc(64, (bytes.size() + 63) / 64 * 64), std::free);
  std::memcpy(shared.get(), bytes.data(), bytes.size());
  Module by_memory(std::make_unique<SharedPtrDataLoader>(std::move(shared), bytes.size()));
  classify("shared", &by_memory);

  CountingModule module(argv[1], Module::LoadMode::MmapUseMlockIgnoreErrors);
  const Error error = module.load(Program::Verification::Minimal);
  std::printf("loaded: %d %d\n", error == Error::Ok, module.is_loaded());
  classify("own", &module);
  std::printf("calls: %d\n", module.calls());
  std::printf("no file: %d\n", MmapDataLoader::from("none.pte").ok());
  return 0;
}
