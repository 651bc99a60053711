// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/flatbuffer_sites.h"

#include <cstring>
#include <set>
#include <utility>

namespace petrel::fuzz {
namespace {

using reflection::BaseType;
using reflection::Field;
using reflection::Object;
using reflection::Schema;
using reflection::Type;

constexpr size_t kMaxSites = 20'000;
constexpr uint32_t kMaxElements = 256;
constexpr int kMaxDepth = 32;

class Walk final {
 public:
  Walk(const Schema& schema, const uint8_t* data, size_t size)
      : schema_(schema), data_(data), size_(size) {}

  std::vector<Site> run() {
    size_t root = 0;
    if (follow(0, &root)) table(*schema_.root_table(), root, 0);
    return std::move(sites_);
  }

 private:
  template <typename T>
  bool read(size_t position, T* out) const {
    if (position > size_ || sizeof(T) > size_ - position) return false;
    std::memcpy(out, data_ + position, sizeof(T));
    return true;
  }
  bool follow(size_t position, size_t* target) const {
    uint32_t offset = 0;
    if (!read(position, &offset) || offset > size_ - position) return false;
    *target = position + offset;
    return true;
  }
  void add(Site::Kind kind, size_t width, size_t position, const void* tag = nullptr) {
    if (sites_.size() < kMaxSites && position <= size_ && width <= size_ - position) {
      sites_.push_back({kind, static_cast<uint8_t>(width), position, tag});
    }
  }

  void table(const Object& type, size_t position, int depth) {
    int32_t back = 0;
    if (depth > kMaxDepth || sites_.size() >= kMaxSites || !read(position, &back) ||
        !seen_.insert({position, &type}).second) {
      return;
    }
    const auto vtable = static_cast<size_t>(static_cast<int64_t>(position) - back);
    uint16_t vtable_size = 0;
    if (!read(vtable, &vtable_size)) return;
    for (const Field* field : *type.fields()) {
      uint16_t place = 0;
      if (field->offset() + 2u > vtable_size || !read(vtable + field->offset(), &place)) continue;
      add(Site::Kind::kField, 2, vtable + field->offset());
      if (place != 0) value(*field->type(), position + place, type, *field, vtable, depth);
    }
  }

  void value(const Type& type, size_t position, const Object& owner, const Field& field,
             size_t vtable, int depth) {
    switch (type.base_type()) {
      case BaseType::String:
        string(position);
        break;
      case BaseType::Vector:
        vector(type, position, field, depth);
        break;
      case BaseType::Obj:
        object(type, position, depth);
        break;
      case BaseType::Union:
        union_of(type, position, owner, field, vtable, depth);
        break;
      case BaseType::UType:
        add(Site::Kind::kUnion, 1, position);
        break;
      default:
        add(Site::Kind::kNumber, width_of(type.base_type()), position);
    }
  }

  void string(size_t position) {
    size_t target = 0;
    add(Site::Kind::kOffset, 4, position, &schema_);
    if (follow(position, &target)) add(Site::Kind::kLength, 4, target);
  }

  void object(const Type& type, size_t position, int depth) {
    const Object* const object = schema_.objects()->Get(static_cast<uint32_t>(type.index()));
    if (object->is_struct()) {
      for (const Field* field : *object->fields()) {
        add(Site::Kind::kNumber, width_of(field->type()->base_type()), position + field->offset());
      }
      return;
    }
    size_t target = 0;
    add(Site::Kind::kOffset, 4, position, object);
    if (follow(position, &target)) table(*object, target, depth + 1);
  }

  void union_of(const Type& type, size_t position, const Object& owner, const Field& field,
                size_t vtable, int depth) {
    // Its type is the field of the number before.
    uint16_t place = 0;
    uint8_t which = 0;
    size_t target = 0;
    (void)owner;
    const size_t table_start = position - field_place(vtable, field.offset());
    add(Site::Kind::kOffset, 4, position,
        schema_.enums()->Get(static_cast<uint32_t>(type.index())));
    if (!read(vtable + field.offset() - 2u, &place) || place == 0 ||
        !read(table_start + place, &which) || !follow(position, &target)) {
      return;
    }
    for (const auto* entry : *schema_.enums()->Get(static_cast<uint32_t>(type.index()))->values()) {
      if (entry->value() != which || entry->union_type() == nullptr) continue;
      if (entry->union_type()->base_type() != BaseType::Obj) return;
      const auto index = static_cast<uint32_t>(entry->union_type()->index());
      return table(*schema_.objects()->Get(index), target, depth + 1);
    }
  }

  uint16_t field_place(size_t vtable, uint16_t offset) const {
    uint16_t place = 0;
    (void)read(vtable + offset, &place);
    return place;
  }

  void vector(const Type& type, size_t position, const Field& field, int depth) {
    size_t target = 0;
    uint32_t length = 0;
    add(Site::Kind::kOffset, 4, position, &field);
    if (!follow(position, &target) || !read(target, &length)) return;
    add(Site::Kind::kLength, 4, target);
    const BaseType element = type.element();
    for (uint32_t i = 0; i < length && i < kMaxElements; ++i) {
      const size_t width = element_width(type);
      const size_t at = target + 4 + i * width;
      if (at >= size_) return;
      if (element == BaseType::Obj) {
        object(type, at, depth);
      } else if (element == BaseType::String) {
        string(at);
      } else {
        add(Site::Kind::kNumber, width, at);
      }
    }
  }

  size_t element_width(const Type& type) const {
    if (type.element() != BaseType::Obj) {
      return type.element() == BaseType::String ? 4 : width_of(type.element());
    }
    const Object* const object = schema_.objects()->Get(static_cast<uint32_t>(type.index()));
    return object->is_struct() ? static_cast<size_t>(object->bytesize()) : 4;
  }

  static size_t width_of(BaseType type) {
    switch (type) {
      case BaseType::Bool:
      case BaseType::Byte:
      case BaseType::UByte:
      case BaseType::UType:
        return 1;
      case BaseType::Short:
      case BaseType::UShort:
        return 2;
      case BaseType::Long:
      case BaseType::ULong:
      case BaseType::Double:
        return 8;
      default:
        return 4;
    }
  }

  const Schema& schema_;
  const uint8_t* data_;
  size_t size_;
  std::vector<Site> sites_;
  std::set<std::pair<size_t, const Object*>> seen_;
};

}  // namespace

std::vector<Site> find_sites(const Schema& schema, const uint8_t* data, size_t size) {
  return Walk(schema, data, size).run();
}

std::vector<Site> find_sites(const Layout& layout, const uint8_t* data, size_t size) {
  if (layout.start >= size) return {};
  data += layout.start;
  size -= layout.start;
  std::vector<Site> sites = find_sites(layout.schema, data, size);
  if (layout.inner == nullptr) return sites;
  // Behind the offset of its root. Buffers lie where numbers of eight bytes may lie.
  const flatbuffers::String& identifier = *layout.inner->file_ident();
  for (size_t at = 8; at + 8 <= size; at += 8) {
    if (std::memcmp(data + at + 4, identifier.c_str(), 4) != 0) continue;
    for (Site site : find_sites(*layout.inner, data + at, size - at)) {
      site.position += at;
      sites.push_back(site);
    }
    break;
  }
  return sites;
}

}  // namespace petrel::fuzz
