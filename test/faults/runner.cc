// SPDX-License-Identifier: Apache-2.0
#include "test/faults/runner.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/core/data_loader.h"
#include "runtime/core/log.h"
#include "runtime/executor/program.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using runtime::DataLoader;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::HierarchicalAllocator;
using runtime::MemoryManager;
using runtime::Method;
using runtime::MethodMeta;
using runtime::Program;
using runtime::ProgramOptions;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tag;
using runtime::Tensor;
using runtime::TensorImpl;
using runtime::TensorInfo;

// Programs of the tests need less; damaged ones must not get more.
constexpr uint64_t kMaxArenaBytes = 1 << 20;
constexpr uint64_t kMaxInstructions = 2000;

void* allocate_block(size_t size, size_t alignment) {
  void* block = nullptr;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  if (posix_memalign(&block, alignment, size) != 0) std::abort();
  return block;
}

// Hands out copies of `bytes`, with faults.
class CopyLoader final : public DataLoader {
 public:
  CopyLoader(const std::vector<uint8_t>& bytes, Faults* faults) : bytes_(bytes), faults_(faults) {}

  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
    const bool fault = faults_->loads++ == faults_->fail_load;
    if (fault && faults_->load_fault == Faults::LoadFault::Error) return Error::AccessFailed;
    if (offset > bytes_.size() || size > bytes_.size() - offset) return Error::InvalidArgument;
    // Exactly as long as asked for, but for one byte when it is to be moved.
    const size_t shift = fault && faults_->load_fault == Faults::LoadFault::Misaligned ? 1 : 0;
    uint8_t* const data = static_cast<uint8_t*>(allocate_block(size + shift, 16)) + shift;
    if (size != 0) std::memcpy(data, bytes_.data() + offset, size);
    if (fault && faults_->load_fault == Faults::LoadFault::OtherBytes) {
      for (size_t i = 0; i < size; ++i) data[i] ^= 0xff;
    }
    return make_buffer(data, size, fault);
  }

  Result<size_t> size() const override {
    return static_cast<size_t>(static_cast<int64_t>(bytes_.size()) + faults_->size_error);
  }

  int64_t live_buffers() const { return live_; }

 private:
  FreeableBuffer make_buffer(uint8_t* data, size_t size, bool fault) const {
    ++live_;
    const bool is_short = fault && faults_->load_fault == Faults::LoadFault::ShortRead;
    return FreeableBuffer(data, is_short && size != 0 ? size - 1 : size, &free_block,
                          const_cast<CopyLoader*>(this));
  }

  static void free_block(void* loader, void* data, size_t) {
    --static_cast<CopyLoader*>(loader)->live_;
    std::free(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) & ~uintptr_t{15}));
  }

  const std::vector<uint8_t>& bytes_;
  Faults* faults_;
  mutable int64_t live_ = 0;
};

// A tensor that the caller owns, in blocks of exact sizes.
struct OwnedTensor {
  OwnedTensor(ScalarType type, Span<const int32_t> tensor_sizes, Span<const uint8_t> order)
      : sizes(tensor_sizes.begin(), tensor_sizes.end()),
        dim_order(order.begin(), order.end()),
        impl(type, static_cast<ssize_t>(sizes.size()), sizes.data(), nullptr, dim_order.data()) {
    data.reset(static_cast<uint8_t*>(allocate_block(impl.nbytes(), 16)));
    std::memset(data.get(), 0, impl.nbytes());
    if (impl.set_data(data.get(), impl.nbytes()) != Error::Ok) std::abort();
  }

  struct Free {
    void operator()(uint8_t* block) const { std::free(block); }
  };
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  TensorImpl impl;
  std::unique_ptr<uint8_t, Free> data;
};

std::unique_ptr<OwnedTensor> make_golden_input(const GoldenValue& value) {
  const uint8_t order[] = {0, 1, 2, 3};
  auto tensor = std::make_unique<OwnedTensor>(value.type, value.sizes,
                                              Span<const uint8_t>(order, value.sizes.size()));
  std::memcpy(tensor->data.get(), value.data.data(), value.data.size() * sizeof(float));
  return tensor;
}

class MethodRun final {
 public:
  MethodRun(const Program& program, std::string name, const Golden& golden, Faults* faults)
      : program_(program),
        name_(std::move(name)),
        golden_(golden),
        expected_(golden.find(name_)),
        data_map_(golden),
        method_allocator_(faults),
        temp_allocator_(faults) {}

  Error run(bool compare, std::vector<std::string>* differences) {
    const Result<MethodMeta> meta = program_.method_meta(name_);
    if (!meta.ok()) return meta.error();
    for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
      const size_t size = meta->memory_planned_buffer_size(i).get();
      arenas_.emplace_back(static_cast<uint8_t*>(allocate_block(size, 16)));
      std::memset(arenas_.back().get(), 0, size);
      spans_.emplace_back(arenas_.back().get(), size);
    }
    HierarchicalAllocator planned{Span<Span<uint8_t>>(spans_)};
    MemoryManager memory(&method_allocator_, &planned, &temp_allocator_);
    Result<Method> method = program_.load_method(name_, &memory, nullptr, &data_map_);
    if (!method.ok()) return method.error();
    for (size_t i = 0; i < method->inputs_size(); ++i) {
      PETREL_RETURN_IF_ERROR(set_input(*method, *meta, i));
    }
    for (size_t i = 0; i < method->outputs_size(); ++i) set_output(*method, *meta, i);
    // Twice: what one execution leaves behind must suit the next.
    PETREL_RETURN_IF_ERROR(method->execute());
    if (compare) compare_outputs(*method, differences);
    return method->execute();
  }

 private:
  Error set_input(Method& method, const MethodMeta& meta, size_t i) {
    if (expected_ != nullptr && i < expected_->inputs.size()) {
      tensors_.push_back(make_golden_input(expected_->inputs[i]));
      if (method.set_input(Tensor(&tensors_.back()->impl), i) == Error::Ok) return Error::Ok;
    }
    const Result<TensorInfo> info = meta.input_tensor_meta(i);
    if (!info.ok()) return method.set_input(method.get_input(i), i);
    if (info->nbytes() > kMaxArenaBytes) return Error::OutOfResources;
    tensors_.push_back(
        std::make_unique<OwnedTensor>(info->scalar_type(), info->sizes(), info->dim_order()));
    std::memset(tensors_.back()->data.get(), 1, tensors_.back()->impl.nbytes());
    return method.set_input(Tensor(&tensors_.back()->impl), i);
  }

  void set_output(Method& method, const MethodMeta& meta, size_t i) {
    const Result<TensorInfo> info = meta.output_tensor_meta(i);
    if (!info.ok() || info->is_memory_planned() || info->nbytes() > kMaxArenaBytes) return;
    tensors_.push_back(
        std::make_unique<OwnedTensor>(info->scalar_type(), info->sizes(), info->dim_order()));
    // Refused for outputs that are constants.
    (void)method.set_output_data_ptr(tensors_.back()->data.get(), tensors_.back()->impl.nbytes(),
                                     i);
  }

  void compare_outputs(const Method& method, std::vector<std::string>* differences) const {
    if (expected_ == nullptr) return;
    const auto differ = [&](const std::string& what) {
      differences->push_back(golden_.name + " " + name_ + ": " + what);
    };
    if (method.outputs_size() != expected_->outputs.size()) return differ("number of outputs");
    for (size_t i = 0; i < method.outputs_size(); ++i) {
      const GoldenValue& wanted = expected_->outputs[i];
      const EValue& value = method.get_output(i);
      if (wanted.is_number) {
        if (!value.isInt() || value.toInt() != wanted.number) differ("number");
        continue;
      }
      if (!value.isTensor()) {
        differ("type of output");
        continue;
      }
      const Tensor tensor = value.toTensor();
      if (!runtime::equal(tensor.sizes(), Span<const int32_t>(wanted.sizes))) {
        differ("sizes");
        continue;
      }
      const bool delegated = method.method_meta().num_backends() != 0;
      for (size_t k = 0; k < tensor.numel(); ++k) {
        const float y = tensor.const_data_ptr<float>()[k];
        const float eager = delegated ? backend_output().value_or(wanted.data[k]) : wanted.data[k];
        if (!(std::fabs(y - eager) <= 1e-5f * (1 + std::fabs(eager)))) {
          differ("element " + std::to_string(k) + " is " + std::to_string(y) + ", not " +
                 std::to_string(eager));
        }
      }
    }
  }

  const Program& program_;
  std::string name_;
  const Golden& golden_;
  const GoldenMethod* expected_;
  GoldenDataMap data_map_;
  BlockAllocator method_allocator_;
  BlockAllocator temp_allocator_;
  std::vector<std::unique_ptr<uint8_t, OwnedTensor::Free>> arenas_;
  std::vector<Span<uint8_t>> spans_;
  std::vector<std::unique_ptr<OwnedTensor>> tensors_;
};

std::string last_message;

void keep_message(void*, runtime::LogLevel, const char* message) { last_message = message; }

runtime::LogHook previous_hook;

}  // namespace

bool Report::all_ok() const {
  if (load != Error::Ok) return false;
  for (const Error error : methods) {
    if (error != Error::Ok) return false;
  }
  return true;
}

Report run_program(const std::vector<uint8_t>& bytes, const Golden& golden, Faults* faults,
                   bool compare) {
  Report report;
  CopyLoader loader(bytes, faults);
  ProgramOptions options;
  options.registry = &test_registry();
  options.limits.max_arena_bytes = kMaxArenaBytes;
  options.limits.max_instructions = kMaxInstructions;
  {
    const Result<Program> program = Program::load(&loader, options);
    report.load = program.error();
    for (size_t i = 0; program.ok() && i < program->num_methods(); ++i) {
      MethodRun run(*program, program->get_method_name(i).get(), golden, faults);
      report.methods.push_back(run.run(compare, &report.differences));
    }
  }
  report.leaked_buffers = loader.live_buffers();
  return report;
}

QuietLog::QuietLog() {
  previous_hook = runtime::set_log_hook({&keep_message, nullptr});
  last_message.clear();
}

QuietLog::~QuietLog() { runtime::set_log_hook(previous_hook); }

const std::string& QuietLog::last() { return last_message; }

void QuietLog::clear() { last_message.clear(); }

void* BlockAllocator::allocate(size_t size, size_t alignment) {
  if (faults_ != nullptr) {
    const int64_t number = faults_->allocations++;
    const int64_t failing = faults_->fail_allocation;
    if (failing >= 0 && (number == failing || (faults_->keep_failing && number > failing))) {
      return nullptr;
    }
  }
  blocks_.push_back(allocate_block(size, alignment));
  return blocks_.back();
}

void BlockAllocator::free_all() {
  for (void* block : blocks_) std::free(block);
  blocks_.clear();
}

}  // namespace petrel::faults
