// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/core/result.h"
#include "runtime/core/tensor.h"
#include "runtime/program/flat_parts.h"
#include "runtime/program/program_verifier.h"
#include "schema/formats.h"
#include "schema/program_generated.h"
#include "schema/shared_bytes.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

// Reports a problem of one value. `Log` lines start alike, so that a message
// always says which value of which method is meant.
#define PETREL_LOG_VALUE(format, ...) \
  PETREL_LOG(Error, "method \"%.64s\": value %u: " format, method_, index_, __VA_ARGS__)

class ValueVerifier final {
 public:
  explicit ValueVerifier(const PlanContext& context)
      : context_(context),
        values_(*context.plan->values()),
        method_(context.plan->name()->c_str()) {}

  Error verify_all() {
    for (index_ = 0; index_ < values_.size(); ++index_) {
      PETREL_RETURN_IF_ERROR(verify_value(entry(&values_, index_)));
    }
    return Error::Ok;
  }

 private:
  Error verify_value(const fb::EValue& value) {
    if (value.val() == nullptr) {
      PETREL_LOG_VALUE("it has type %d, but no content", static_cast<int>(value.val_type()));
      return Error::InvalidProgram;
    }
    const void* const content = value.val();
    switch (value.val_type()) {
      case fb::KernelTypes::Null:
      case fb::KernelTypes::Int:
      case fb::KernelTypes::Bool:
      case fb::KernelTypes::Double:
      case fb::KernelTypes::BoolList:
        return Error::Ok;
      case fb::KernelTypes::String:
        if (static_cast<const fb::String*>(content)->string_val() != nullptr) return Error::Ok;
        PETREL_LOG_VALUE("%s", "a string without text");
        return Error::InvalidProgram;
      case fb::KernelTypes::Tensor:
        return verify_tensor(*static_cast<const fb::Tensor*>(content));
      case fb::KernelTypes::DoubleList:
        return check_aligned(static_cast<const fb::DoubleList*>(content)->items(), sizeof(double));
      case fb::KernelTypes::IntList:
        return verify_items(static_cast<const fb::IntList*>(content)->items(), nullptr,
                            fb::KernelTypes::Int);
      case fb::KernelTypes::TensorList:
      case fb::KernelTypes::OptionalTensorList:
        return verify_tensors(static_cast<const fb::TensorList*>(content)->items(),
                              value.val_type() == fb::KernelTypes::OptionalTensorList);
      default:
        PETREL_LOG_VALUE("type %d is unknown", static_cast<int>(value.val_type()));
        return Error::InvalidProgram;
    }
  }

  Error verify_tensors(const flatbuffers::Vector<int32_t>* items, bool may_be_none) {
    static_assert(int{fb::TensorList::VT_ITEMS} == int{fb::OptionalTensorList::VT_ITEMS});
    const uint32_t count = size_of(items);
    if (!context_.entries->spend(count)) {
      PETREL_LOG_VALUE("its list has %u tensors, of which the program may have %" PRIu64
                       " more in lists",
                       count, context_.entries->left());
      return Error::OutOfResources;
    }
    return verify_items(nullptr, items, fb::KernelTypes::Tensor, may_be_none);
  }

  Error check_aligned(const void* items, size_t alignment) {
    if (internal::is_aligned(items, alignment)) return Error::Ok;
    PETREL_LOG_VALUE("%s", "its list is not aligned");
    return Error::InvalidProgram;
  }

  // Items, of the one or the other list, are indices of values of `type`; -1 stands for none
  // where that is allowed, and a value may be none then, too.
  Error verify_items(const flatbuffers::Vector<int64_t>* wide,
                     const flatbuffers::Vector<int32_t>* narrow, fb::KernelTypes type,
                     bool may_be_none = false) {
    PETREL_RETURN_IF_ERROR(check_aligned(wide, sizeof(int64_t)));
    const uint32_t count = size_of(wide) + size_of(narrow);
    for (uint32_t i = 0; i < count; ++i) {
      const int64_t item = wide != nullptr ? wide->Get(i) : narrow->Get(i);
      if (item == -1 && may_be_none) continue;
      // A negative one is far above.
      if (static_cast<uint64_t>(item) >= values_.size()) {
        PETREL_LOG_VALUE("entry %u of its list is value %" PRId64 ", must be in [0, %u)", i, item,
                         values_.size());
        return Error::InvalidProgram;
      }
      const fb::KernelTypes found = entry(&values_, static_cast<uint32_t>(item)).val_type();
      if (found != type && !(may_be_none && found == fb::KernelTypes::Null)) {
        PETREL_LOG_VALUE("entry %u of its list is value %" PRId64 ", which has the wrong type %d",
                         i, item, static_cast<int>(found));
        return Error::InvalidProgram;
      }
    }
    return Error::Ok;
  }

  Error verify_tensor(const fb::Tensor& tensor) {
    const auto type = static_cast<ScalarType>(tensor.scalar_type());
    if (!is_valid(type)) {
      PETREL_LOG_VALUE("scalar type %d is unknown", static_cast<int>(type));
      return Error::InvalidProgram;
    }
    size_t nbytes = 0;
    PETREL_RETURN_IF_ERROR(verify_shape(tensor, element_size(type), &nbytes));
    PETREL_RETURN_IF_ERROR(verify_features(tensor));
    if (tensor.allocation_info() != nullptr) {
      PETREL_RETURN_IF_ERROR(verify_place(*tensor.allocation_info(), nbytes, element_size(type)));
    }
    const fb::ExtraTensorInfo* const extra = tensor.extra_tensor_info();
    if (extra != nullptr && extra->location() == fb::TensorDataLocation::EXTERNAL) {
      if (is_name(extra->fully_qualified_name(), schema::kMaxTensorNameBytes)) return Error::Ok;
      PETREL_LOG_VALUE("%s",
                       "an external tensor whose name is missing, empty, too long or "
                       "contains a NUL");
      return Error::InvalidProgram;
    }
    if (tensor.data_buffer_idx() == 0) return Error::Ok;
    return tensor.allocation_info() != nullptr
               ? verify_initial_value(tensor.data_buffer_idx(), nbytes)
               : verify_constant(tensor.data_buffer_idx(), nbytes, element_size(type));
  }

  Error verify_shape(const fb::Tensor& tensor, size_t element_bytes, size_t* nbytes) {
    if (tensor.sizes() == nullptr || tensor.dim_order() == nullptr) {
      PETREL_LOG_VALUE("%s", "a tensor without sizes or dim order");
      return Error::InvalidProgram;
    }
    const Span<const int32_t> sizes = items_of(tensor.sizes());
    const Span<const uint8_t> dim_order = items_of(tensor.dim_order());
    if (sizes.size() > kTensorDimensionLimit) {
      PETREL_LOG_VALUE("rank %zu, must be at most %zu", sizes.size(), kTensorDimensionLimit);
      return Error::InvalidProgram;
    }
    if (dim_order.size() != sizes.size()) {
      PETREL_LOG_VALUE("%zu entries in its dim order, but rank %zu", dim_order.size(),
                       sizes.size());
      return Error::InvalidProgram;
    }
    if (!is_permutation(dim_order)) {
      PETREL_LOG_VALUE("its dim order is not a permutation of 0 to %zu", sizes.size() - 1);
      return Error::InvalidProgram;
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 0) {
        PETREL_LOG_VALUE("dim %zu is %d, must be in [0, 2^31)", i, sizes[i]);
        return Error::InvalidProgram;
      }
    }
    size_t numel = 0;
    if (!checked_numel(sizes, &numel) || !checked_nbytes(numel, element_bytes, nbytes)) {
      PETREL_LOG_VALUE("%s", "the number of its bytes overflows");
      return Error::InvalidProgram;
    }
    return Error::Ok;
  }

  // What the format can express and this runtime does not do.
  Error verify_features(const fb::Tensor& tensor) {
    if (tensor.storage_offset() != 0) {
      PETREL_LOG_VALUE("storage offset %d, only 0 is supported", tensor.storage_offset());
      return tensor.storage_offset() < 0 ? Error::InvalidProgram : Error::NotSupported;
    }
    if (tensor.layout() != 0) {
      PETREL_LOG_VALUE("layout %d, only 0 (strided) is supported", tensor.layout());
      return Error::NotSupported;
    }
    switch (tensor.shape_dynamism()) {
      case fb::TensorShapeDynamism::STATIC:
      case fb::TensorShapeDynamism::DYNAMIC_BOUND:
        break;
      case fb::TensorShapeDynamism::DYNAMIC_UNBOUND:
        PETREL_LOG_VALUE("%s", "its sizes have no bound, which is not supported");
        return Error::NotSupported;
      default:
        PETREL_LOG_VALUE("shape dynamism %d is unknown", static_cast<int>(tensor.shape_dynamism()));
        return Error::InvalidProgram;
    }
    const fb::ExtraTensorInfo* const extra = tensor.extra_tensor_info();
    if (extra == nullptr) return Error::Ok;
    if (extra->device_type() != fb::DeviceType::CPU) {
      PETREL_LOG_VALUE("device type %d, only 0 (CPU) is supported",
                       static_cast<int>(extra->device_type()));
      return Error::NotSupported;
    }
    if (extra->location() != fb::TensorDataLocation::SEGMENT &&
        extra->location() != fb::TensorDataLocation::EXTERNAL) {
      PETREL_LOG_VALUE("data location %d is unknown", static_cast<int>(extra->location()));
      return Error::InvalidProgram;
    }
    if (extra->fully_qualified_name() != nullptr &&
        !is_c_text(extra->fully_qualified_name(), schema::kMaxTensorNameBytes)) {
      PETREL_LOG_VALUE("%s", "its name is too long or contains a NUL");
      return Error::InvalidProgram;
    }
    return Error::Ok;
  }

  Error verify_place(const fb::AllocationDetails& place, size_t nbytes, size_t element_bytes) {
    const Span<const int64_t> arenas = items_of(context_.plan->non_const_buffer_sizes());
    const uint32_t arena = place.memory_id();
    if (arena == 0 || arena >= arenas.size()) {
      PETREL_LOG_VALUE("arena %u, must be in [1, %zu)", arena, arenas.size());
      return Error::InvalidProgram;
    }
    const uint64_t offset = uint64_t{place.memory_offset_high()} << 32 | place.memory_offset_low();
    const auto arena_bytes = static_cast<uint64_t>(arenas[arena]);
    if (!in_bounds(offset, nbytes, arena_bytes)) {
      PETREL_LOG_VALUE("%zu bytes at offset %" PRIu64 " of arena %u, which has %" PRIu64, nbytes,
                       offset, arena, arena_bytes);
      return Error::InvalidProgram;
    }
    if (offset % element_bytes != 0) {
      PETREL_LOG_VALUE("offset %" PRIu64 " of arena %u, must be a multiple of %zu", offset, arena,
                       element_bytes);
      return Error::InvalidProgram;
    }
    return Error::Ok;
  }

  // `offset` becomes that of the entry.
  Error verify_entry(const fb::SubsegmentOffsets& entries, const char* name, uint32_t index,
                     size_t nbytes, uint64_t* offset) {
    const Span<const uint64_t> offsets = items_of(entries.offsets());
    if (index >= offsets.size()) {
      PETREL_LOG_VALUE("entry %u of %s, but there are %zu", index, name, offsets.size());
      return Error::InvalidProgram;
    }
    *offset = offsets[index];
    const uint64_t size = entry(context_.program->segments(), entries.segment_index()).size();
    if (!in_bounds(*offset, nbytes, size)) {
      PETREL_LOG_VALUE("%zu bytes at offset %" PRIu64 " of %s, which has %" PRIu64, nbytes, *offset,
                       name, size);
      return Error::InvalidProgram;
    }
    return Error::Ok;
  }

  Error verify_constant(uint32_t index, size_t nbytes, size_t element_bytes) {
    const fb::SubsegmentOffsets* const segment = context_.program->constant_segment();
    if (segment != nullptr && size_of(segment->offsets()) != 0) {
      uint64_t offset = 0;
      PETREL_RETURN_IF_ERROR(verify_entry(*segment, "constant data", index, nbytes, &offset));
      if (offset % element_bytes == 0) return Error::Ok;
      PETREL_LOG_VALUE("offset %" PRIu64 " of constant data, must be a multiple of %zu", offset,
                       element_bytes);
      return Error::InvalidProgram;
    }
    const auto* const buffers = context_.program->constant_buffer();
    if (index >= size_of(buffers)) {
      PETREL_LOG_VALUE("constant %u, but there are %u", index, size_of(buffers));
      return Error::InvalidProgram;
    }
    const uint32_t size = size_of(entry(buffers, index).storage());
    if (nbytes > size) {
      PETREL_LOG_VALUE("%zu bytes of constant %u, which has %u", nbytes, index, size);
      return Error::InvalidProgram;
    }
    return Error::Ok;
  }

  Error verify_initial_value(uint32_t index, size_t nbytes) {
    const auto* const segments = context_.program->mutable_data_segments();
    if (size_of(segments) == 0) {
      PETREL_LOG_VALUE("initial value %u, but the program has no initial values", index);
      return Error::InvalidProgram;
    }
    uint64_t offset = 0;
    PETREL_RETURN_IF_ERROR(
        verify_entry(entry(segments, 0), "mutable data", index, nbytes, &offset));
    if (context_.initial->add(nbytes)) return Error::Ok;
    PETREL_LOG_VALUE("initial values up to it have more than %" PRIu64
                     " bytes together, the most for a file of this size",
                     context_.initial->most());
    return Error::InvalidProgram;
  }

  const PlanContext& context_;
  const flatbuffers::Vector<flatbuffers::Offset<fb::EValue>>& values_;
  const char* method_;
  uint32_t index_ = 0;
};

}  // namespace

Error verify_values(const PlanContext& context) {
  if (context.plan->values() == nullptr) {
    PETREL_LOG(Error, "method \"%.64s\": it has no list of values", context.plan->name()->c_str());
    return Error::InvalidProgram;
  }
  return ValueVerifier(context).verify_all();
}

}  // namespace petrel::runtime
