// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/data_swap.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/core/log.h"
#include "runtime/executor/delegate_maker.h"
#include "runtime/executor/external_tensor.h"
#include "runtime/executor/method_step.h"
#include "runtime/executor/program.h"

namespace petrel::runtime {

// A delegate that takes the place of another one.
struct DataSwap::Made {
  size_t index = 0;
  MethodDelegate delegate;
};

// Data that takes the place of what the values with one key have: all of the sizes that are
// declared, whatever the program has made of the tensors since.
struct DataSwap::Fetched {
  MethodExternal* external = nullptr;
  FreeableBuffer data;
};

namespace {

// Without data, over lists of the program, which are not written.
TensorImpl declared_tensor(const TensorView& from) {
  return TensorImpl(from.scalar_type, static_cast<ssize_t>(from.sizes.size()),
                    const_cast<int32_t*>(from.sizes.data()), nullptr,
                    const_cast<uint8_t*>(from.dim_order.data()));
}

}  // namespace

DataSwap::DataSwap(Method* method, const LoadBackendOptionsMap* options)
    : method_(*method), options_(options), memory_(method->delegate_bytes_) {}

DataSwap::~DataSwap() {
  for (Made& made : made_) {
    made.delegate.backend->destroy(made.delegate.handle);
    made.~Made();
  }
  for (Fetched& fetched : fetched_) fetched.~Fetched();
}

size_t DataSwap::delegate(size_t i) const { return made_[i].index; }

bool DataSwap::is_changed(std::string_view key) const {
  return std::binary_search(changed_.begin(), changed_.end(), key);
}

bool DataSwap::concerns(const MethodDelegate& delegate) const {
  return delegate.data_map != nullptr &&
         std::any_of(changed_.begin(), changed_.end(),
                     [&](std::string_view key) { return delegate.data_map->may_have_asked(key); });
}

Error DataSwap::prepare(Span<const std::string_view> changed) {
  if (method_.stepping_) {
    PETREL_LOG(Error, "the data of a method cannot be replaced while it is stepped through");
    return Error::InvalidState;
  }
  // A map that checks what it hands out once does not see that it changed.
  if (!method_.program_->options().data_is_held &&
      method_.program_->additions().num_weights() > 0) {
    PETREL_LOG(Error, "data can be replaced where ProgramOptions::data_is_held is set");
    return Error::InvalidState;
  }
  changed_ = changed;
  PETREL_RETURN_IF_ERROR(fetch_tensors());
  return make_delegates();
}

std::string_view DataSwap::key_of(const MethodExternal& external) const {
  return method_.external_key(method_.tensors_of(external)[0].value);
}

Result<void*> DataSwap::place_of(const TensorView& planned) const {
  return method_.memory_->planned_memory()->get_offset_address(
      planned.arena - 1, static_cast<size_t>(planned.arena_offset), planned.nbytes());
}

// Tries all that put() does.
Result<FreeableBuffer> DataSwap::fetch(const MethodExternal& external) const {
  const std::string_view key = key_of(external);
  FreeableBuffer data;
  for (const MethodExternalTensor& each : method_.tensors_of(external)) {
    const TensorView declared = *method_.declared_.value(each.value).as_tensor();
    TensorImpl tensor = declared_tensor(declared);
    if (data.data() == nullptr) {
      PETREL_ASSIGN_OR_RETURN(data, fetch_external(method_.external_map_, key, tensor));
    } else {
      PETREL_RETURN_IF_ERROR(check_external_data(method_.external_map_, key, tensor, data));
    }
    PETREL_RETURN_IF_ERROR(tensor.set_data(const_cast<void*>(data.data()), tensor.nbytes()));
    if (declared.is_planned()) PETREL_RETURN_IF_ERROR(place_of(declared).error());
  }
  return data;
}

Error DataSwap::fetch_tensors() {
  size_t count = 0;
  for (const MethodExternal& external : method_.external_data_) {
    count += is_changed(key_of(external));
  }
  PETREL_ASSIGN_OR_RETURN(Span<Fetched> room,
                          method_.memory_->method_allocator()->allocate_list<Fetched>(count));
  for (MethodExternal& external : method_.external_data_) {
    if (!is_changed(key_of(external))) continue;
    PETREL_ASSIGN_OR_RETURN(FreeableBuffer data, fetch(external));
    new (&room[fetched_.size()]) Fetched{&external, std::move(data)};
    fetched_ = room.first(fetched_.size() + 1);
    num_tensors_ += external.count;
  }
  return Error::Ok;
}

Error DataSwap::make_delegates() {
  // The delegates that stay have what they took.
  Budget memory("max_delegate_bytes", method_.program_->options().limits.max_delegate_bytes);
  uint64_t taken = memory.left() - method_.delegate_bytes_.left();
  size_t count = 0;
  for (const MethodDelegate& delegate : method_.delegates_) {
    if (!concerns(delegate)) continue;
    ++count;
    taken -= std::min(taken, delegate.memory_taken);
  }
  PETREL_RETURN_IF_ERROR(memory.take("the delegates that stay", taken));
  memory_ = memory;
  PETREL_ASSIGN_OR_RETURN(Span<Made> room,
                          method_.memory_->method_allocator()->allocate_list<Made>(count));
  for (size_t i = 0; i < method_.delegates_.size(); ++i) {
    if (!concerns(method_.delegates_[i])) continue;
    Made* const made = new (&room[made_.size()]) Made();
    made->index = i;
    const Error error = make_delegate(i, made);
    if (error != Error::Ok) {
      made->~Made();
      return error;
    }
    made_ = room.first(made_.size() + 1);
  }
  return Error::Ok;
}

Error DataSwap::make_delegate(size_t index, Made* to) {
  const MethodDelegate& old = method_.delegates_[index];
  const DelegateMaker maker(*method_.program_, method_.declared_,
                            method_.memory_->method_allocator(), method_.event_tracer_,
                            method_.data_map_, options_);
  to->delegate.backend = old.backend;
  to->delegate.data_map = old.data_map;
  PETREL_RETURN_IF_ERROR(maker.load_payload(index, &to->delegate));
  PETREL_RETURN_IF_ERROR(maker.make_handle(index, &memory_, &to->delegate));
  // Which arguments it may write was checked for the old one.
  const Result<size_t> before = old.backend->num_outputs(old.handle);
  const Result<size_t> now = old.backend->num_outputs(to->delegate.handle);
  if (before.error() == now.error() && (!now.ok() || *now == *before)) return Error::Ok;
  PETREL_LOG(Error, "delegate %zu has other outputs once its data is replaced", index);
  old.backend->destroy(to->delegate.handle);
  return Error::InvalidExternalData;
}

void DataSwap::put(Fetched* fetched) {
  bool is_kept = false;
  for (const MethodExternalTensor& each : method_.tensors_of(*fetched->external)) {
    const TensorView declared = *method_.declared_.value(each.value).as_tensor();
    const size_t nbytes = declared.nbytes();
    const bool is_planned = declared.is_planned();
    // The program may have made it a view of what must not be written, or others must not
    // keep.
    void* const data = is_planned ? *place_of(declared) : const_cast<void*>(fetched->data.data());
    TensorImpl& tensor = method_.tensors_[each.tensor];
    tensor.set_constant(!is_planned);
    // prepare() tried it.
    static_cast<void>(tensor.rebind(declared.sizes, data, nbytes));
    if (is_planned && nbytes > 0) std::memcpy(data, fetched->data.data(), nbytes);
    is_kept = is_kept || !is_planned;
  }
  if (is_kept) fetched->external->data = std::move(fetched->data);
}

void DataSwap::commit() {
  // They may lie in the data that goes.
  Method::forget(method_.views_);
  for (Fetched& fetched : fetched_) put(&fetched);
  for (Made& made : made_) std::swap(method_.delegates_[made.index], made.delegate);
  method_.delegate_bytes_ = memory_;
}

}  // namespace petrel::runtime
