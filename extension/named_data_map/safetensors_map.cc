// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/safetensors_map.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "extension/data_loader/shared_reads.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/core/tensor.h"
#include "runtime/platform/aligned_memory.h"
#include "schema/formats.h"

namespace petrel::extension {

using runtime::BytePlace;
using runtime::DataLoader;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::kDataAlignment;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::ScalarType;
using runtime::TensorLayout;

namespace {

constexpr size_t kLengthBytes = 8;

struct Dtype {
  const char* name;
  ScalarType type;
};

constexpr Dtype kDtypes[] = {
    {"BOOL", ScalarType::Bool},
    {"U8", ScalarType::Byte},
    {"I8", ScalarType::Char},
    {"F8_E5M2", ScalarType::Float8_e5m2},
    {"F8_E4M3", ScalarType::Float8_e4m3fn},
    {"I16", ScalarType::Short},
    {"U16", ScalarType::UInt16},
    {"F16", ScalarType::Half},
    {"BF16", ScalarType::BFloat16},
    {"I32", ScalarType::Int},
    {"U32", ScalarType::UInt32},
    {"F32", ScalarType::Float},
    {"F64", ScalarType::Double},
    {"I64", ScalarType::Long},
    {"U64", ScalarType::UInt64},
};

void free_memory(void*, void* data, size_t) { runtime::free_aligned(data); }

// `data` at an address that is a multiple of kDataAlignment.
Result<FreeableBuffer> aligned(FreeableBuffer&& data) {
  if (reinterpret_cast<uintptr_t>(data.data()) % kDataAlignment == 0) return std::move(data);
  size_t padded = 0;
  if (!runtime::checked_align_up(data.size(), kDataAlignment, &padded)) {
    return Error::MemoryAllocationFailed;
  }
  void* memory = runtime::allocate_aligned(kDataAlignment, padded);
  if (memory == nullptr) return Error::MemoryAllocationFailed;
  std::memcpy(memory, data.data(), data.size());
  return FreeableBuffer(memory, data.size(), free_memory);
}

}  // namespace

// Takes the index from the events of the JSON parser:
//
//   {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//    "__metadata__": {"any": "text"}}
class SafetensorsMap::IndexReader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  IndexReader(uint64_t data_begin, uint64_t data_size)
      : data_begin_(data_begin), data_size_(data_size) {}

  std::vector<Tensor> take() { return std::move(tensors_); }

  bool null() { return fail("has a null"); }
  bool boolean(bool) { return fail("has a boolean"); }
  bool number_integer(number_integer_t) { return fail("has a negative number"); }
  bool number_float(number_float_t, const string_t&) { return fail("has a fraction"); }
  bool binary(binary_t&) { return fail("has binary data"); }

  bool number_unsigned(number_unsigned_t value) {
    if (list_ == nullptr) return fail("has a number where none belongs");
    if (list_->size() >= runtime::kTensorDimensionLimit) return fail("has too long a list");
    list_->push_back(value);
    return true;
  }

  bool string(string_t& text) {
    if (in_metadata_) return true;
    if (depth_ != 2 || field_ != "dtype") return fail("has a text where none belongs");
    dtype_ = text;
    return true;
  }

  bool start_object(size_t) {
    ++depth_;
    // Lists stand in depth 2.
    if (depth_ > 2) return fail("is nested too deeply");
    return true;
  }

  bool key(string_t& text) {
    if (depth_ == 1) {
      name_ = text;
      in_metadata_ = text == "__metadata__";
      if (text.empty() || text.size() > schema::kMaxWrittenKeyBytes ||
          text.find('\0') != string_t::npos) {
        return fail("has a name that is empty, too long or contains a NUL");
      }
      if (!names_.insert(text).second) return fail("occurs twice");
      dtype_.clear();
      shape_.clear();
      offsets_.clear();
      fields_.clear();
      return true;
    }
    if (in_metadata_) return true;
    field_ = text;
    if (!fields_.insert(text).second) return fail("has a field twice");
    return true;
  }

  bool end_object() {
    --depth_;
    if (depth_ == 1 && !in_metadata_) return finish();
    if (depth_ == 1) in_metadata_ = false;
    return true;
  }

  bool start_array(size_t) {
    if (in_metadata_ || depth_ != 2 || list_ != nullptr) return fail("has a list too many");
    if (field_ == "shape") list_ = &shape_;
    if (field_ == "data_offsets") list_ = &offsets_;
    return list_ != nullptr || fail("has a list where none belongs");
  }

  bool end_array() {
    list_ = nullptr;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) {
    PETREL_LOG(Error, "safetensors index is not valid JSON at byte %zu", position);
    return false;
  }

 private:
  bool fail(const char* what) {
    PETREL_LOG(Error, "safetensors tensor \"%.200s\" %s", name_.c_str(), what);
    return false;
  }

  // What has been collected becomes a tensor.
  bool finish() {
    Tensor tensor;
    tensor.name = name_;
    const Dtype* dtype = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                      [&](const Dtype& row) { return dtype_ == row.name; });
    if (dtype == std::end(kDtypes)) return fail("has an unknown dtype");
    tensor.dtype = dtype->type;
    if (fields_.count("shape") == 0) return fail("has no shape");
    for (const uint64_t size : shape_) {
      int32_t narrow = 0;
      if (!runtime::checked_cast(size, &narrow)) return fail("has a size beyond 2^31");
      tensor.dim_order.push_back(static_cast<uint8_t>(tensor.sizes.size()));
      tensor.sizes.push_back(narrow);
    }
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1] || offsets_[1] > data_size_) {
      return fail("has data_offsets that are not inside the file");
    }
    tensor.offset = static_cast<size_t>(data_begin_ + offsets_[0]);
    tensor.size = static_cast<size_t>(offsets_[1] - offsets_[0]);
    const Result<const TensorLayout> layout =
        TensorLayout::create({tensor.sizes.data(), tensor.sizes.size()},
                             {tensor.dim_order.data(), tensor.dim_order.size()}, tensor.dtype);
    if (!layout.ok() || layout->nbytes() != tensor.size) {
      return fail("has other bytes than its shape and dtype need");
    }
    tensors_.push_back(std::move(tensor));
    return true;
  }

  const uint64_t data_begin_;
  const uint64_t data_size_;
  std::vector<Tensor> tensors_;
  std::set<std::string> names_;

  size_t depth_ = 0;
  bool in_metadata_ = false;
  std::string name_;
  std::string field_;
  std::set<std::string> fields_;
  std::string dtype_;
  std::vector<uint64_t> shape_;
  std::vector<uint64_t> offsets_;
  std::vector<uint64_t>* list_ = nullptr;
};

Result<SafetensorsMap> SafetensorsMap::load(DataLoader* loader) {
  PETREL_ASSIGN_OR_RETURN(const size_t file_size, loader->size());
  const DataLoader::SegmentInfo info(DataLoader::SegmentInfo::Type::Program);
  if (file_size < kLengthBytes) {
    PETREL_LOG(Error, "safetensors file has %zu bytes, must have at least %zu", file_size,
               kLengthBytes);
    return Error::InvalidExternalData;
  }
  uint64_t length = 0;
  {
    PETREL_ASSIGN_OR_RETURN(const FreeableBuffer head, loader->load(0, kLengthBytes, info));
    const auto* bytes = static_cast<const uint8_t*>(head.data());
    for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | bytes[i];
  }
  if (length > kMaxIndexBytes || length > file_size - kLengthBytes) {
    PETREL_LOG(Error, "safetensors index of %llu bytes is larger than %llu or than the file",
               static_cast<unsigned long long>(length),
               static_cast<unsigned long long>(kMaxIndexBytes));
    return Error::InvalidExternalData;
  }
  const auto begin = static_cast<size_t>(kLengthBytes + length);
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer index,
                          loader->load(kLengthBytes, static_cast<size_t>(length), info));
  const auto* text = static_cast<const char*>(index.data());
  IndexReader reader(begin, file_size - begin);
  // Only an object is an index; the parser takes any value.
  if (length == 0 || text[0] != '{' || !nlohmann::json::sax_parse(text, text + length, &reader)) {
    PETREL_LOG(Error, "safetensors index of %llu bytes is damaged",
               static_cast<unsigned long long>(length));
    return Error::InvalidExternalData;
  }
  std::vector<Tensor> tensors = reader.take();
  std::sort(tensors.begin(), tensors.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  if (tensors.size() > std::numeric_limits<uint32_t>::max()) return Error::NotSupported;
  PETREL_RETURN_IF_ERROR(check_overlaps(tensors));
  return SafetensorsMap(loader, std::move(tensors));
}

Error SafetensorsMap::check_overlaps(const std::vector<Tensor>& tensors) {
  std::vector<const Tensor*> in_order;
  for (const Tensor& tensor : tensors) {
    if (tensor.size > 0) in_order.push_back(&tensor);
  }
  std::sort(in_order.begin(), in_order.end(),
            [](const Tensor* a, const Tensor* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < in_order.size(); ++i) {
    const Tensor& before = *in_order[i - 1];
    if (in_order[i]->offset - before.offset >= before.size) continue;
    PETREL_LOG(Error, "tensors '%.200s' and '%.200s' of a safetensors file share bytes",
               before.name.c_str(), in_order[i]->name.c_str());
    return Error::InvalidExternalData;
  }
  return Error::Ok;
}

Result<size_t> SafetensorsMap::num_bytes(std::string_view key) const {
  const Tensor* tensor = find(key);
  if (tensor == nullptr) return Error::NotFound;
  return size_t{tensor->size};
}

const SafetensorsMap::Tensor* SafetensorsMap::find(std::string_view key) const {
  const auto it = std::lower_bound(
      tensors_.begin(), tensors_.end(), key,
      [](const Tensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return it == tensors_.end() || it->name != key ? nullptr : &*it;
}

Result<FreeableBuffer> SafetensorsMap::get_data(std::string_view key) const {
  const Tensor* tensor = find(key);
  if (tensor == nullptr) return Error::NotFound;
  const auto index = static_cast<size_t>(tensor - tensors_.data());
  const DataLoader::SegmentInfo info(DataLoader::SegmentInfo::Type::External, index);
  const bool is_shared =
      tensor->offset % kDataAlignment != 0 && SharedReads::may_share(tensor->size, info);
  const SharedReads::Range range = {{source_, tensor->offset}, tensor->size};
  if (is_shared) {
    std::optional<FreeableBuffer> there = SharedReads::find(range);
    if (there.has_value()) return *std::move(there);
  }
  PETREL_ASSIGN_OR_RETURN(FreeableBuffer data, loader_->load(tensor->offset, tensor->size, info));
  PETREL_ASSIGN_OR_RETURN(FreeableBuffer copy, aligned(std::move(data)));
  if (!is_shared) return copy;
  return SharedReads::share(range, std::move(copy));
}

Result<BytePlace> SafetensorsMap::find_place(std::string_view key, size_t size) const {
  const Tensor* tensor = find(key);
  if (tensor == nullptr) return Error::NotFound;
  if (tensor->size != size) return Error::NotSupported;
  return loader_->find_place(tensor->offset, size);
}

Result<bool> SafetensorsMap::is_in_place(std::string_view key) const {
  const Tensor* tensor = find(key);
  if (tensor == nullptr) return Error::NotFound;
  const auto index = static_cast<size_t>(tensor - tensors_.data());
  const DataLoader::SegmentInfo info(DataLoader::SegmentInfo::Type::External, index);
  return tensor->offset % kDataAlignment == 0 && loader_->is_in_place(info);
}

Result<uint32_t> SafetensorsMap::get_num_keys() const {
  return static_cast<uint32_t>(tensors_.size());
}

Result<const char*> SafetensorsMap::get_key(uint32_t index) const {
  if (index >= tensors_.size()) {
    PETREL_LOG(Error, "key %u of a safetensors file that has %zu", index, tensors_.size());
    return Error::InvalidArgument;
  }
  return tensors_[index].name.c_str();
}

Result<const TensorLayout> SafetensorsMap::get_tensor_layout(std::string_view key) const {
  const Tensor* tensor = find(key);
  if (tensor == nullptr) return Error::NotFound;
  return TensorLayout::create({tensor->sizes.data(), tensor->sizes.size()},
                              {tensor->dim_order.data(), tensor->dim_order.size()}, tensor->dtype);
}

Result<std::unique_ptr<NamedDataMap>> read_safetensors(DataLoader* loader) {
  Result<SafetensorsMap> map = SafetensorsMap::load(loader);
  if (!map.ok()) return map.error();
  return std::unique_ptr<NamedDataMap>(new SafetensorsMap(std::move(map.get())));
}

}  // namespace petrel::extension
