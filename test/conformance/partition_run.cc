// SPDX-License-Identifier: Apache-2.0
#include "test/conformance/partition_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "test/conformance/fixture.h"

namespace petrel::conformance {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::MemoryAllocator;
using runtime::Result;
using runtime::Span;

constexpr size_t kGuard = 64;
constexpr uint8_t kGuardByte = 0xA5;
// More than any of the partitions needs; a damaged payload must not get all there is.
constexpr size_t kMemory = size_t{1} << 20;

class HeapMemory final : public MemoryAllocator {
 public:
  HeapMemory() : MemoryAllocator(0, nullptr) {}
  ~HeapMemory() override {
    for (void* block : blocks_) std::free(block);
  }
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    void* block = nullptr;
    if (size > kMemory - used_) return nullptr;
    if (posix_memalign(&block, std::max(alignment, sizeof(void*)), size) != 0) return nullptr;
    used_ += size;
    blocks_.push_back(block);
    return block;
  }

 private:
  size_t used_ = 0;
  std::vector<void*> blocks_;
};

}  // namespace

GuardedTensor::GuardedTensor(const exir::TensorType& type, bool resizes)
    : elements_(static_cast<size_t>(type.numel())) {
  for (const int64_t size : type.sizes) sizes_.push_back(static_cast<int32_t>(size));
  order_.assign(type.dim_order.begin(), type.dim_order.end());
  const size_t bytes = elements_ * sizeof(float);
  void* block = nullptr;
  if (posix_memalign(&block, kGuard, kGuard + bytes + kGuard) != 0) std::abort();
  block_ = static_cast<uint8_t*>(block);
  std::memset(block_, kGuardByte, kGuard + bytes + kGuard);
  data_ = reinterpret_cast<float*>(block_ + kGuard);
  impl_ = std::make_unique<runtime::TensorImpl>(
      runtime::ScalarType::Float, static_cast<ssize_t>(sizes_.size()), sizes_.data(), data_,
      order_.data(), nullptr,
      resizes ? runtime::TensorShapeDynamism::DYNAMIC_BOUND : runtime::TensorShapeDynamism::STATIC);
}

GuardedTensor::~GuardedTensor() { std::free(block_); }

bool GuardedTensor::guards_are_whole() const {
  const auto whole = [](const uint8_t* guard) {
    return std::all_of(guard, guard + kGuard, [](uint8_t b) { return b == kGuardByte; });
  };
  return whole(block_) && whole(block_ + kGuard + elements_ * sizeof(float));
}

// The blobs of a store as the runtime's map; counts what is out.
class PartitionRun::Data final : public runtime::NamedDataMap {
 public:
  explicit Data(const exir::NamedBlobStore& store) {
    for (const auto& [unused, destination] : store.destinations()) {
      for (const auto& entry : destination.entries) {
        blobs_.emplace(entry.key, destination.buffers[entry.buffer].blob.bytes());
      }
    }
  }
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = blobs_.find(std::string(key));
    if (found == blobs_.end()) return Error::NotFound;
    const size_t size = found->second.size();
    void* block = nullptr;
    if (posix_memalign(&block, 64, size) != 0) return Error::MemoryAllocationFailed;
    std::memcpy(block, found->second.data(), size);
    ++out_;
    return FreeableBuffer(block, size, &give_back, const_cast<Data*>(this));
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(blobs_.size()); }
  Result<const char*> get_key(uint32_t index) const override {
    if (index >= blobs_.size()) return Error::InvalidArgument;
    return std::next(blobs_.begin(), index)->first.c_str();
  }
  int out() const { return out_; }

 private:
  static void give_back(void* self, void* block, size_t) {
    std::free(block);
    --static_cast<Data*>(self)->out_;
  }
  std::map<std::string, exir::Blob::Bytes> blobs_;
  mutable int out_ = 0;
};

struct PartitionRun::Processed {
  FreeableBuffer buffer;
  int out = 0;
  int freed_again = 0;

  static void give_back(void* self, void* block, size_t) {
    auto* const processed = static_cast<Processed*>(self);
    if (processed->out == 0) {
      ++processed->freed_again;
      return;
    }
    --processed->out;
    std::free(block);
  }
};

PartitionRun::PartitionRun(const CompiledPartition& partition, const exir::NamedBlobStore& store)
    : partition_(partition),
      backend_(backend_under_test().runtime.backend),
      data_(std::make_unique<Data>(store)),
      processed_(std::make_unique<Processed>()) {
  for (const auto& type : partition.inputs)
    inputs_.push_back(std::make_unique<GuardedTensor>(type));
  for (const auto& type : partition.outputs)
    outputs_.push_back(std::make_unique<GuardedTensor>(type));
}

PartitionRun::~PartitionRun() { destroy(); }

Error PartitionRun::init(const std::vector<uint8_t>& payload) {
  destroy();
  void* block = nullptr;
  if (posix_memalign(&block, 64, payload.size()) != 0) return Error::MemoryAllocationFailed;
  if (!payload.empty()) std::memcpy(block, payload.data(), payload.size());
  processed_->out = 1;
  processed_->buffer =
      FreeableBuffer(block, payload.size(), &Processed::give_back, processed_.get());
  std::vector<runtime::CompileSpec> specs;
  for (const exir::CompileSpec& spec : partition_.compile_specs) {
    specs.push_back({spec.key.c_str(), {spec.value.data(), spec.value.size()}});
  }
  memory_ = std::make_unique<HeapMemory>();
  runtime::BackendInitContext context(memory_.get(), nullptr, partition_.method.c_str(),
                                      data_.get(), {});
  Result<runtime::DelegateHandle*> handle = backend_->init(
      context, &processed_->buffer, Span<const runtime::CompileSpec>(specs.data(), specs.size()));
  if (!handle.ok()) {
    processed_->buffer.free();
    return handle.error();
  }
  handle_ = *handle;
  return Error::Ok;
}

void PartitionRun::destroy() {
  if (handle_ != nullptr) backend_->destroy(handle_);
  handle_ = nullptr;
  processed_->buffer.free();
  memory_.reset();
}

Error PartitionRun::execute(uint32_t seed, const std::function<void(Arguments&)>& change) {
  const std::vector<Elements> elements = make_inputs(partition_.inputs, seed);
  Arguments arguments;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    std::copy(elements[i].begin(), elements[i].end(), inputs_[i]->data());
    arguments.push_back(inputs_[i]->value());
  }
  for (auto& output : outputs_) arguments.push_back(output->value());
  if (change) change(arguments);
  std::vector<runtime::EValue*> pointers;
  for (runtime::EValue& argument : arguments) pointers.push_back(&argument);
  HeapMemory temp;
  runtime::BackendExecutionContext context(nullptr, &temp, partition_.method.c_str(), nullptr);
  return backend_->execute(context, handle_,
                           Span<runtime::EValue*>(pointers.data(), pointers.size()));
}

std::vector<Elements> PartitionRun::outputs() const {
  std::vector<Elements> outputs;
  for (const auto& output : outputs_) {
    outputs.emplace_back(output->data(), output->data() + output->elements());
  }
  return outputs;
}

bool PartitionRun::guards_are_whole() const {
  const auto whole = [](const auto& tensor) { return tensor->guards_are_whole(); };
  return std::all_of(inputs_.begin(), inputs_.end(), whole) &&
         std::all_of(outputs_.begin(), outputs_.end(), whole);
}

int PartitionRun::leaks() const { return data_->out() + processed_->out + processed_->freed_again; }

}  // namespace petrel::conformance
