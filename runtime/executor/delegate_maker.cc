// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/delegate_maker.h"

#include <new>

#include "runtime/core/log.h"

namespace petrel::runtime {

bool DelegateMaker::have_fixed_sizes(const MethodView& declared) {
  for (uint32_t i = 0; i < declared.num_chains(); ++i) {
    const ChainView chain = declared.chain(i);
    for (uint32_t k = 0; k < chain.num_instructions(); ++k) {
      const InstructionView instruction = chain.instruction(k);
      if (instruction.kind != InstructionView::Kind::Delegate) continue;
      for (const int32_t arg : instruction.args) {
        const std::optional<TensorView> tensor = declared.value(arg).as_tensor();
        if (!tensor || tensor->dynamism != TensorShapeDynamism::STATIC) return false;
      }
    }
  }
  return true;
}

Error DelegateMaker::load_payload(size_t index, MethodDelegate* to) const {
  const DelegateView from = declared_.delegate(static_cast<uint32_t>(index));
  to->name = from.backend().data();
  return program_.load_delegate_data(from, &to->payload);
}

Error DelegateMaker::make_data_map(MethodDelegate* to) const {
  if (data_map_ == nullptr) return Error::Ok;
  PETREL_ASSIGN_OR_RETURN(const uint32_t num_keys, data_map_->get_num_keys());
  Span<AskedDataMap::Word> filter;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(AskedDataMap::filter_words(num_keys), &filter));
  // Never destroyed: it owns nothing.
  Span<AskedDataMap> room;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(1, &room));
  to->data_map = new (room.data()) AskedDataMap(*data_map_, filter);
  return Error::Ok;
}

Error DelegateMaker::make_handle(size_t index, Budget* memory, MethodDelegate* to) const {
  const DelegateView from = declared_.delegate(static_cast<uint32_t>(index));
  Span<CompileSpec> specs;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(from.num_specs(), &specs));
  for (uint32_t i = 0; i < specs.size(); ++i) {
    const CompileSpecView spec = from.spec(i);
    specs[i].key = spec.key.data();
    specs[i].value.nbytes = spec.value.size();
    specs[i].value.buffer = spec.value.data();
  }
  Span<const BackendOption> options;
  if (options_ != nullptr) options = options_->get_options(to->name);
  BackendInitContext context(allocator_, event_tracer_, declared_.name().data(), to->data_map,
                             options, memory, sizes_are_fixed_);
  if (to->data_map != nullptr) to->data_map->forget_missing();
  const uint64_t before = memory->left();
  const Result<DelegateHandle*> handle = to->backend->init(context, &to->payload, specs);
  if (!handle.ok()) {
    if (to->data_map != nullptr && !to->data_map->missing().empty()) {
      const std::string_view key = to->data_map->missing();
      PETREL_LOG(Error, "the data that the program was given has no key \"%.*s\"",
                 static_cast<int>(key.size()), key.data());
    }
    PETREL_LOG(Error, "method \"%.64s\": backend %.64s cannot use the payload of delegate %zu: %s",
               declared_.name().data(), to->name, index, to_string(handle.error()));
    return handle.error();
  }
  to->memory_taken = before - memory->left();
  to->handle = *handle;
  return Error::Ok;
}

}  // namespace petrel::runtime
