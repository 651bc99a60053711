// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/external_tensor.h"

#include "runtime/core/log.h"
#include "runtime/executor/held_data_map.h"
#include "runtime/executor/layout_text.h"

namespace petrel::runtime {

namespace {

int shown(std::string_view name) { return static_cast<int>(name.size() < 128 ? name.size() : 128); }

// A map without layouts must at least have the right number of bytes.
Error check_size(std::string_view name, const TensorImpl& tensor, bool has_layout,
                 const FreeableBuffer& data) {
  const size_t nbytes = tensor.nbytes();
  if (data.size() >= nbytes && (has_layout || data.size() == nbytes)) return Error::Ok;
  PETREL_LOG(Error, "external tensor \"%.*s\" has %zu bytes, but the program needs %zu",
             shown(name), name.data(), data.size(), nbytes);
  return Error::InvalidExternalData;
}

}  // namespace

Result<bool> check_external_layout(const NamedDataMap* map, std::string_view name,
                                   const TensorImpl& tensor) {
  if (map == nullptr) {
    PETREL_LOG(Error, "external tensor \"%.*s\" needs a data map, but none was given", shown(name),
               name.data());
    return Error::InvalidExternalData;
  }
  const Result<const TensorLayout> layout = map->get_tensor_layout(name);
  if (layout.error() == Error::NotImplemented) return false;
  if (!layout.ok()) {
    PETREL_LOG(Error, "external tensor \"%.*s\" cannot be found in the data map: %s", shown(name),
               name.data(), to_string(layout.error()));
    return layout.error() == Error::NotFound ? Error::InvalidExternalData : layout.error();
  }
  if (is_layout(*layout, tensor.scalar_type(), tensor.sizes(), tensor.dim_order())) return true;
  PETREL_LOG(Error, "external tensor \"%.*s\" is %s, but the program needs %s", shown(name),
             name.data(),
             LayoutText(layout->scalar_type(), layout->sizes(), layout->dim_order()).text,
             LayoutText(tensor.scalar_type(), tensor.sizes(), tensor.dim_order()).text);
  return Error::InvalidExternalData;
}

Error check_external_data(const NamedDataMap* map, std::string_view name, const TensorImpl& tensor,
                          const FreeableBuffer& data) {
  PETREL_ASSIGN_OR_RETURN(const bool has_layout, check_external_layout(map, name, tensor));
  return check_size(name, tensor, has_layout, data);
}

Result<FreeableBuffer> fetch_external(const NamedDataMap* map, std::string_view name,
                                      const TensorImpl& tensor) {
  PETREL_ASSIGN_OR_RETURN(const bool has_layout, check_external_layout(map, name, tensor));
  Result<FreeableBuffer> data = map->get_data(name);
  if (!data.ok()) {
    PETREL_LOG(Error, "external tensor \"%.*s\" cannot be read: %s", shown(name), name.data(),
               to_string(data.error()));
    return data.error() == Error::NotFound ? Error::InvalidExternalData : data.error();
  }
  PETREL_RETURN_IF_ERROR(check_size(name, tensor, has_layout, *data));
  return data;
}

}  // namespace petrel::runtime
