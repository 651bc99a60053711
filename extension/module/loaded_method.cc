// SPDX-License-Identifier: Apache-2.0
#include "extension/module/loaded_method.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "runtime/core/budget.h"

namespace petrel::extension {

using runtime::Error;
using runtime::EValue;
using runtime::MethodMeta;
using runtime::Result;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorInfo;

namespace {

// The first arena is written in each run; a state may have room for more than will ever be there.
constexpr size_t kMostOfFirst = size_t{16} << 20;
constexpr size_t kMostOfState = size_t{1} << 20;

}  // namespace

TensorCopy::TensorCopy(const Tensor& from)
    : sizes(from.sizes().begin(), from.sizes().end()),
      dim_order(from.dim_order().begin(), from.dim_order().end()),
      strides(from.strides().begin(), from.strides().end()),
      impl(from.scalar_type(), from.dim(), sizes.data(), nullptr,
           dim_order.empty() ? nullptr : dim_order.data(),
           strides.empty() ? nullptr : strides.data(), from.shape_dynamism()) {}

Result<std::unique_ptr<TensorCopy>> TensorCopy::make(const Tensor& from, const void* data) {
  auto copy = std::make_unique<TensorCopy>(from);
  PETREL_RETURN_IF_ERROR(runtime::check_same_bytes(from, Tensor(&copy->impl)));
  PETREL_RETURN_IF_ERROR(copy->bytes.allocate(from.nbytes()));
  const Span<uint8_t> bytes = copy->bytes.span();
  if (bytes.size() > 0) std::memcpy(bytes.data(), data, bytes.size());
  PETREL_RETURN_IF_ERROR(copy->impl.set_data(bytes.data(), bytes.size()));
  return copy;
}

Error LoadedMethod::allocate_arenas(const MethodMeta& meta, SharedArenas& shared) {
  for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
    PETREL_ASSIGN_OR_RETURN(const size_t size, meta.memory_planned_buffer_size(i));
    PETREL_ASSIGN_OR_RETURN(std::shared_ptr<Arena> arena, shared.get(i, size));
    spans.push_back(arena->span().first(size));
    arenas.push_back(std::move(arena));
  }
  planned = std::make_unique<runtime::HierarchicalAllocator>(
      Span<Span<uint8_t>>(spans.data(), spans.size()));
  memory =
      std::make_unique<runtime::MemoryManager>(&method_allocator, planned.get(), &temp_allocator);
  return Error::Ok;
}

void LoadedMethod::touch_arenas() {
  for (size_t i = 0; i < arenas.size(); ++i) arenas[i]->touch(i == 0 ? kMostOfFirst : kMostOfState);
}

bool LoadedMethod::owns(const void* address) const {
  return std::any_of(arenas.begin(), arenas.end(),
                     [&](const auto& arena) { return arena->contains(address); }) ||
         std::any_of(outputs.begin(), outputs.end(),
                     [&](const Arena& arena) { return arena.contains(address); });
}

Result<std::vector<EValue>> LoadedMethod::take_outputs(const runtime::Limits& limits) {
  std::vector<EValue> taken(method->outputs_size());
  for (size_t i = 0; i < taken.size(); ++i) taken[i] = method->get_output(i);
  if (!method->points_at_inputs()) return taken;
  std::vector<const void*> data(taken.size());
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i].isTensor()) data[i] = taken[i].toTensor().const_data_ptr();
  }
  method->unbind_inputs();
  std::vector<std::unique_ptr<TensorCopy>> copies;
  runtime::Budget bytes("max_input_bytes", limits.max_input_bytes);
  for (size_t i = 0; i < taken.size(); ++i) {
    if (data[i] == nullptr || taken[i].toTensor().const_data_ptr() != nullptr) continue;
    const Tensor tensor = taken[i].toTensor();
    PETREL_RETURN_IF_ERROR(bytes.take("an output that is an input", tensor.nbytes()));
    PETREL_ASSIGN_OR_RETURN(std::unique_ptr<TensorCopy> copy, TensorCopy::make(tensor, data[i]));
    copies.push_back(std::move(copy));
    taken[i] = EValue(Tensor(&copies.back()->impl));
  }
  // Not earlier: an input may have been a copy of the last run.
  copied_outputs = std::move(copies);
  return taken;
}

Error LoadedMethod::provide_outputs(const MethodMeta& meta, const runtime::Limits& limits) {
  runtime::Budget bytes("max_input_bytes", limits.max_input_bytes);
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    const Result<TensorInfo> info = meta.output_tensor_meta(i);
    if (!info.ok() || info->is_memory_planned() || info->is_constant()) continue;
    PETREL_RETURN_IF_ERROR(bytes.take("an output that is not planned", info->nbytes()));
    outputs.emplace_back();
    PETREL_RETURN_IF_ERROR(outputs.back().allocate(info->nbytes()));
    PETREL_RETURN_IF_ERROR(
        method->set_output_data_ptr(outputs.back().span().data(), outputs.back().span().size(), i));
  }
  return Error::Ok;
}

MethodSwap::MethodSwap(LoadedMethod* loaded, uint64_t generation,
                       const runtime::LoadBackendOptionsMap* options)
    : loaded_(*loaded), generation_(generation) {
  swap_.emplace(loaded->method.get(), options);
}

Error MethodSwap::prepare(Span<const std::string_view> changed) {
  // What a delegate asks for later stays as long as the method, whatever becomes of this.
  struct Generation {
    ~Generation() { allocator.set_generation(0); }
    HeapAllocator& allocator;
  };
  {
    const Generation own{loaded_.method_allocator};
    loaded_.method_allocator.set_generation(generation_);
    PETREL_RETURN_IF_ERROR(swap_->prepare(changed));
  }
  find_generations();
  return Error::Ok;
}

void MethodSwap::find_generations() {
  after_ = loaded_.generations;
  for (size_t i = 0; i < swap_->num_delegates(); ++i) {
    const size_t delegate = swap_->delegate(i);
    if (delegate >= after_.size()) after_.resize(delegate + 1);
    after_[delegate] = generation_;
  }
  std::set<uint64_t> unused(loaded_.generations.begin(), loaded_.generations.end());
  unused.insert(generation_);
  // That of the method itself.
  unused.erase(0);
  for (const uint64_t generation : after_) unused.erase(generation);
  unused_.assign(unused.begin(), unused.end());
}

void MethodSwap::commit() noexcept {
  swap_->commit();
  loaded_.generations.swap(after_);
  is_committed_ = true;
}

MethodSwap::~MethodSwap() {
  swap_.reset();
  if (!is_committed_) loaded_.method_allocator.free_generation(generation_);
  for (size_t i = 0; is_committed_ && i < unused_.size(); ++i) {
    loaded_.method_allocator.free_generation(unused_[i]);
  }
}

}  // namespace petrel::extension
