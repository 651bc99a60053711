// SPDX-License-Identifier: Apache-2.0
//
// Data from outside for the values of a method: asked for once for each key, however many
// values name it, since a map may read or check all of it each time.
//
//   external_tensors_   [ value 7 | value 2 | value 9 | value 4 ]   in the order of their keys
//   external_data_      [ "fc.bias": 2, bytes | "fc.weight": 2, bytes ]

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/core/heap_sort.h"
#include "runtime/core/log.h"
#include "runtime/executor/external_tensor.h"
#include "runtime/executor/method_builder.h"

namespace petrel::runtime {

namespace {

// The data of a key, which it may have already.
Error hold_data(const NamedDataMap* map, std::string_view key, const TensorImpl& tensor,
                FreeableBuffer* data) {
  if (data->data() != nullptr) return check_external_data(map, key, tensor, *data);
  PETREL_ASSIGN_OR_RETURN(*data, fetch_external(map, key, tensor));
  return Error::Ok;
}

}  // namespace

struct MethodBuilder::ByKey final : Sortable {
  ByKey(const Method& owner, Span<MethodExternalTensor> tensors) : method(owner), all(tensors) {}

  bool is_before(size_t a, size_t b) const override {
    const int order = method.external_key(all[a].value).compare(method.external_key(all[b].value));
    return order != 0 ? order < 0 : all[a].value < all[b].value;
  }
  void swap(size_t a, size_t b) override { std::swap(all[a], all[b]); }

  const Method& method;
  Span<MethodExternalTensor> all;
};

Error MethodBuilder::bind_external_tensors() {
  const Span<MethodExternalTensor> all = method_.external_tensors_;
  if (all.empty()) return Error::Ok;
  PETREL_ASSIGN_OR_RETURN(const size_t file_size, program_.file_size());
  copied_bytes_ = schema::SharedBytes(file_size);
  const auto key_of = [&](const MethodExternalTensor& each) {
    return method_.external_key(each.value);
  };
  ByKey by_key(method_, all);
  heap_sort(&by_key, all.size());
  size_t num_keys = 1;
  for (size_t i = 1; i < all.size(); ++i) num_keys += key_of(all[i]) != key_of(all[i - 1]);
  Span<MethodExternal> room;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(num_keys, &room));
  uint32_t next = 0;
  for (size_t i = 0; i < num_keys; ++i) {
    MethodExternal* const external = new (&room[i]) MethodExternal{next, 0, {}};
    method_.external_data_ = room.first(i + 1);
    PETREL_RETURN_IF_ERROR(bind_key(key_of(all[next]), external));
    next += external->count;
  }
  return Error::Ok;
}

Error MethodBuilder::bind_key(std::string_view key, MethodExternal* external) {
  const Span<MethodExternalTensor> all = method_.external_tensors_;
  bool is_kept = false;
  for (uint32_t i = external->first; i < all.size(); ++i) {
    const uint32_t value = all[i].value;
    if (method_.external_key(value) != key) break;
    const Error error = bind_external_tensor(key, all[i], external);
    if (error != Error::Ok) {
      PETREL_LOG(Error, "method \"%.64s\": value %u cannot be set up", declared_.name().data(),
                 value);
      return error;
    }
    is_kept = is_kept || !declared_.value(value).as_tensor()->is_planned();
    ++external->count;
  }
  if (!is_kept) external->data.free();
  return Error::Ok;
}

Error MethodBuilder::bind_external_tensor(std::string_view key, const MethodExternalTensor& to,
                                          MethodExternal* external) {
  TensorImpl* const tensor = &method_.tensors_[to.tensor];
  const TensorView declared = *declared_.value(to.value).as_tensor();
  if (declared.is_planned()) return copy_external_data(key, *tensor, external);
  if (!declared.is_external && external->data.data() == nullptr) {
    // The program's own counts where there is no other.
    const Result<FreeableBuffer> found = external_map_->get_data(key);
    if (found.error() == Error::NotFound) return Error::Ok;
  }
  PETREL_RETURN_IF_ERROR(hold_data(external_map_, key, *tensor, &external->data));
  tensor->set_constant(true);
  return tensor->set_data(const_cast<void*>(external->data.data()), tensor->nbytes());
}

// The first value of a key is read to where it goes. More of them are copied, and paid for: as
// many states as there are may lie at one place.
Error MethodBuilder::copy_external_data(std::string_view key, const TensorImpl& to,
                                        MethodExternal* external) {
  if (external->count == 0) {
    PETREL_RETURN_IF_ERROR(check_external_layout(external_map_, key, to).error());
    return external_map_->load_data_into(key, to.mutable_data(), to.nbytes());
  }
  PETREL_RETURN_IF_ERROR(hold_data(external_map_, key, to, &external->data));
  if (!copied_bytes_.add(to.nbytes())) {
    PETREL_LOG(Error,
               "states of which others have the same first value have more than %" PRIu64
               " bytes together with those of \"%.*s\", the most for a file of this size",
               copied_bytes_.most(), static_cast<int>(std::min<size_t>(key.size(), 128)),
               key.data());
    return Error::InvalidProgram;
  }
  if (to.nbytes() > 0) std::memcpy(to.mutable_data(), external->data.data(), to.nbytes());
  return Error::Ok;
}

}  // namespace petrel::runtime
