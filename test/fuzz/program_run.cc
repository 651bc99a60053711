// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/program_run.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "runtime/core/log.h"
#include "runtime/executor/program.h"
#include "runtime/kernels/portable/kernels.h"
#include "runtime/threads/thread_count.h"
#include "test/fuzz/arena_gaps.h"
#include "test/fuzz/exact_memory.h"

namespace petrel::fuzz {
namespace {

using runtime::Error;
using runtime::EValue;
using runtime::HierarchicalAllocator;
using runtime::Limits;
using runtime::MemoryManager;
using runtime::Method;
using runtime::MethodMeta;
using runtime::Program;
using runtime::ProgramOptions;
using runtime::Registry;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorImpl;
using runtime::TensorInfo;

constexpr uint64_t kMaxBytes = 1 << 20;
constexpr int kExecutions = 2;

// Messages are written, since writing them may go wrong, and read by nobody.
size_t messages = 0;
void count_message(void*, runtime::LogLevel, const char* message) {
  require(std::strlen(message) < runtime::kMaxLogMessage, "a message is longer than its limit");
  ++messages;
}

// A tensor of the caller, in blocks of exact sizes.
struct CallersTensor {
  explicit CallersTensor(const TensorInfo& info)
      : sizes(info.sizes().begin(), info.sizes().end()),
        dim_order(info.dim_order().begin(), info.dim_order().end()),
        impl(info.scalar_type(), static_cast<ssize_t>(sizes.size()), sizes.data(), nullptr,
             dim_order.data()),
        data(impl.nbytes()) {
    require(impl.set_data(data.data(), data.size()) == Error::Ok, "sizes that no memory suits");
  }
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  TensorImpl impl;
  Block data;
};

// Small numbers of the type, other ones in every execution: the second time with what
// floats have beside numbers, and with negative ones where indices may be read.
void fill(CallersTensor& tensor, uint32_t seed) {
  uint8_t* const bytes = tensor.data.data();
  const size_t width = tensor.impl.element_size();
  for (size_t i = 0; i < tensor.impl.numel(); ++i) {
    const auto number = static_cast<int>((i * 7 + seed * 3) % 9) - 4;
    switch (tensor.impl.scalar_type()) {
      case ScalarType::Float: {
        float value = static_cast<float>(number) * 0.5f;
        if (seed != 0 && i % 8 == 7) value = i % 16 == 7 ? NAN : INFINITY;
        std::memcpy(bytes + i * width, &value, width);
        break;
      }
      case ScalarType::Double: {
        const double value = number * 0.5;
        std::memcpy(bytes + i * width, &value, width);
        break;
      }
      case ScalarType::Bool:
        bytes[i] = number > 0 ? 1 : 0;
        break;
      case ScalarType::Half:
      case ScalarType::BFloat16: {
        const auto bits = static_cast<uint16_t>(0x3800 + number * 0x80);
        std::memcpy(bytes + i * width, &bits, width);
        break;
      }
      default: {
        const int64_t value = seed != 0 ? number : (number + 4) % 4;
        std::memcpy(bytes + i * width, &value, width < 8 ? width : 8);
      }
    }
  }
}

OutputCopy copy_output(const EValue& value) {
  OutputCopy copy;
  copy.tag = value.tag;
  if (value.isInt()) copy.number = static_cast<double>(value.toInt());
  if (value.isDouble()) copy.number = value.toDouble();
  if (value.isBool()) copy.number = value.toBool() ? 1 : 0;
  if (!value.isTensor()) return copy;
  const Tensor tensor = value.toTensor();
  copy.type = tensor.scalar_type();
  copy.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  require(tensor.const_data_ptr() != nullptr || tensor.nbytes() == 0, "an output without memory");
  copy.bytes.resize(tensor.nbytes());
  if (!copy.bytes.empty()) {
    std::memcpy(copy.bytes.data(), tensor.const_data_ptr(), copy.bytes.size());
  }
  return copy;
}

// One method with all memory that it needs.
class MethodRun final {
 public:
  MethodRun(const Program& program, uint32_t index, const MethodMeta& meta)
      : program_(program), index_(index), meta_(meta) {}

  void run(size_t file_size, std::vector<Call>* calls) {
    calls->push_back({meta_.name(), Error::Ok, {}});
    if (!make_arenas()) {
      calls->back().error = Error::OutOfResources;
      return;
    }
    const ArenaGaps gaps(program_.view().method(index_), program_.additions(), spans_);
    HierarchicalAllocator planned{Span<Span<uint8_t>>(spans_)};
    MemoryManager memory(&method_allocator_, &planned, &temp_allocator_);
    Result<Method> method = program_.load_method(meta_.name(), &memory);
    // Room for the fixed costs of the smallest programs.
    require(method_allocator_.allocated() <= 8 * file_size + (64 << 10),
            "a method takes more memory than a small multiple of its file");
    if (!method.ok()) {
      calls->back().error = method.error();
      return;
    }
    for (int execution = 0; execution < kExecutions; ++execution) {
      if (execution != 0) calls->push_back({meta_.name(), Error::Ok, {}});
      execute(*method, static_cast<uint32_t>(execution), &calls->back());
    }
    method->unbind_inputs();
    if (method->points_at_inputs()) {
      require(method->execute() != Error::Ok, "a method runs without its inputs");
    }
  }

 private:
  bool make_arenas() {
    uint64_t total = 0;
    for (size_t i = 0; i < meta_.num_memory_planned_buffers(); ++i) {
      const size_t size = meta_.memory_planned_buffer_size(i).get();
      total += size;
      if (size > kMaxBytes || total > kMaxBytes) return false;
      arenas_.emplace_back(size);
      spans_.emplace_back(arenas_.back().data(), size);
    }
    return true;
  }

  void execute(Method& method, uint32_t seed, Call* call) {
    // The memory of the outputs and inputs before is gone: what a method keeps of it shows.
    const size_t old_outputs = outputs_.size();
    for (size_t i = 0; i < method.outputs_size(); ++i) set_output(method, i);
    outputs_.erase(outputs_.begin(), outputs_.begin() + static_cast<ptrdiff_t>(old_outputs));
    std::vector<std::unique_ptr<CallersTensor>> inputs;
    for (size_t i = 0; i < method.inputs_size() && call->error == Error::Ok; ++i) {
      call->error = set_input(method, i, seed, &inputs);
    }
    if (call->error == Error::Ok) call->error = method.execute();
    if (call->error == Error::Ok) {
      for (size_t i = 0; i < method.outputs_size(); ++i) {
        call->outputs.push_back(copy_output(method.get_output(i)));
      }
    }
    method.unbind_inputs();
  }

  Error set_input(Method& method, size_t i, uint32_t seed,
                  std::vector<std::unique_ptr<CallersTensor>>* inputs) {
    const Result<TensorInfo> info = meta_.input_tensor_meta(i);
    if (!info.ok()) return method.set_input(method.get_input(i), i);
    if (info->nbytes() > kMaxBytes) return Error::OutOfResources;
    inputs->push_back(std::make_unique<CallersTensor>(*info));
    CallersTensor& tensor = *inputs->back();
    fill(tensor, seed);
    // One row less the second time, where sizes may vary.
    if (seed != 0 && info->shape_dynamism() != runtime::TensorShapeDynamism::STATIC &&
        !tensor.sizes.empty() && tensor.sizes[0] > 1) {
      --tensor.sizes[0];
      TensorImpl smaller(info->scalar_type(), static_cast<ssize_t>(tensor.sizes.size()),
                         tensor.sizes.data(), nullptr, tensor.dim_order.data());
      if (smaller.set_data(tensor.data.data(), tensor.data.size()) == Error::Ok &&
          method.set_input(Tensor(&smaller), i) == Error::Ok) {
        return Error::Ok;
      }
      ++tensor.sizes[0];
    }
    return method.set_input(Tensor(&tensor.impl), i);
  }

  void set_output(Method& method, size_t i) {
    const Result<TensorInfo> info = meta_.output_tensor_meta(i);
    if (!info.ok() || info->is_memory_planned() || info->nbytes() > kMaxBytes) return;
    outputs_.push_back(std::make_unique<CallersTensor>(*info));
    CallersTensor& tensor = *outputs_.back();
    // Refused for outputs that are constants.
    (void)method.set_output_data_ptr(tensor.data.data(), tensor.data.size(), i);
  }

  const Program& program_;
  const uint32_t index_;
  const MethodMeta& meta_;
  ExactAllocator method_allocator_;
  ExactAllocator temp_allocator_;
  std::vector<Block> arenas_;
  std::vector<Span<uint8_t>> spans_;
  std::vector<std::unique_ptr<CallersTensor>> outputs_;
};

void set_up_once() {
  static const bool done = [] {
    runtime::set_log_hook({&count_message, nullptr});
    return runtime::set_thread_count(1) == Error::Ok;
  }();
  require(done, "one thread");
}

}  // namespace

Limits small_limits() {
  Limits limits;
  limits.max_arena_bytes = kMaxBytes;
  limits.max_delegate_bytes = kMaxBytes;
  limits.max_input_bytes = kMaxBytes;
  limits.max_instructions = 1000;
  limits.max_element_operations = 500'000;
  return limits;
}

const Registry& reference_registry(const Registry& all) {
  static constexpr runtime::KernelLibrary kPortable[] = {&runtime::portable_kernels};
  static const Registry reference(kPortable, all.backends());
  return reference;
}

ProgramResult run_program(const uint8_t* data, size_t size, const Registry& registry,
                          const Limits& limits) {
  set_up_once();
  ProgramResult result;
  ExactLoader loader(data, size);
  ProgramOptions options;
  options.registry = &registry;
  options.limits = limits;
  const size_t messages_before = messages;
  const Result<Program> program = Program::load(&loader, options);
  result.load = program.error();
  if (!program.ok()) {
    require(messages != messages_before, "an error that nobody explains");
    require(result.load == Error::InvalidProgram || result.load == Error::NotSupported ||
                result.load == Error::OutOfResources,
            "an error of load that its contract does not have");
    return result;
  }
  for (uint32_t i = 0; i < program->num_methods(); ++i) {
    const Result<MethodMeta> meta = program->method_meta(program->get_method_name(i).get());
    if (!meta.ok()) continue;
    MethodRun(*program, i, *meta).run(size, &result.calls);
  }
  return result;
}

}  // namespace petrel::fuzz
