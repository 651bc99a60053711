// SPDX-License-Identifier: Apache-2.0
//
// LoadedMethod: a method of a module with all the memory that it uses, and
// MethodSwap, which puts other data into one.
//
//   MethodSwap swap(&loaded, ++number, backend_options);
//   PETREL_RETURN_IF_ERROR(swap.prepare(changed));    // the method is as before
//   swap.commit();                                    // cannot fail, nor does it need memory
//
// Each swap makes delegates anew in a generation of the method's memory, which goes
// when a later swap has made all of them anew: any number of swaps takes no more
// memory than two.
#ifndef PETREL_EXTENSION_MODULE_LOADED_METHOD_H_
#define PETREL_EXTENSION_MODULE_LOADED_METHOD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "extension/module/arena.h"
#include "extension/module/heap_allocator.h"
#include "extension/module/shared_arenas.h"
#include "runtime/executor/data_swap.h"
#include "runtime/executor/program.h"

namespace petrel::extension {

// A tensor with the elements of another, which says how they lie. It owns its lists, too: those
// of a method's tensor are others once the method is called with other sizes.
struct TensorCopy {
  // `data` has the elements of `from`, which may have none of its own.
  static runtime::Result<std::unique_ptr<TensorCopy>> make(const runtime::Tensor& from,
                                                           const void* data);

  explicit TensorCopy(const runtime::Tensor& from);
  TensorCopy(const TensorCopy&) = delete;
  TensorCopy& operator=(const TensorCopy&) = delete;

  Arena bytes;
  std::vector<runtime::Tensor::SizesType> sizes;
  std::vector<runtime::Tensor::DimOrderType> dim_order;
  std::vector<runtime::Tensor::StridesType> strides;
  runtime::TensorImpl impl;
};

struct LoadedMethod {
  std::string name;
  HeapAllocator method_allocator;
  HeapAllocator temp_allocator;
  std::vector<std::shared_ptr<Arena>> arenas;
  std::vector<runtime::Span<uint8_t>> spans;
  std::unique_ptr<runtime::HierarchicalAllocator> planned;
  std::unique_ptr<runtime::MemoryManager> memory;
  std::vector<Arena> outputs;  // of outputs that the program does not plan
  // Outputs of the last run that lay in memory of the caller.
  std::vector<std::unique_ptr<TensorCopy>> copied_outputs;
  // The generation of method_allocator that each delegate lies in; 0 for those behind the last.
  std::vector<uint64_t> generations;
  std::unique_ptr<runtime::Method> method;

  runtime::Error allocate_arenas(const runtime::MethodMeta& meta, SharedArenas& shared);
  runtime::Error provide_outputs(const runtime::MethodMeta& meta, const runtime::Limits& limits);
  // So that the first run does not wait for their pages. Once the method is loaded.
  void touch_arenas();
  // True for addresses that a run can overwrite.
  bool owns(const void* address) const;
  // Forgets the inputs; what outputs have of them is copied. A program may have an input as
  // many outputs: Limits::max_input_bytes pays for the copies.
  runtime::Result<std::vector<runtime::EValue>> take_outputs(const runtime::Limits& limits);
};

class MethodSwap final {
 public:
  // `generation` is one that the method has not had. Options as in load_method.
  MethodSwap(LoadedMethod* loaded, uint64_t generation,
             const runtime::LoadBackendOptionsMap* options);
  MethodSwap(const MethodSwap&) = delete;
  MethodSwap& operator=(const MethodSwap&) = delete;
  // Gives back what was not committed, or what that replaced.
  ~MethodSwap();

  // May throw, as what makes delegates may.
  runtime::Error prepare(runtime::Span<const std::string_view> changed);
  void commit() noexcept;

  size_t num_delegates() const { return swap_->num_delegates(); }
  size_t num_tensors() const { return swap_->num_tensors(); }

 private:
  void find_generations();

  LoadedMethod& loaded_;
  const uint64_t generation_;
  // Those of the delegates once it is committed, and those that none of them lies in then.
  std::vector<uint64_t> after_;
  std::vector<uint64_t> unused_;
  bool is_committed_ = false;
  std::optional<runtime::DataSwap> swap_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_LOADED_METHOD_H_
