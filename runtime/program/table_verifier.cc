// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/table_verifier.h"

#include "flatbuffers/flatbuffers.h"

namespace petrel::runtime {
namespace {

using flatbuffers::soffset_t;
using flatbuffers::uoffset_t;
using flatbuffers::voffset_t;
using schema::FieldShape;
using schema::SchemaShape;
using schema::TableShape;
using Form = FieldShape::Form;

// As deep as flatbuffers::Verifier goes.
constexpr uint32_t kMaxDepth = 64;

// Goes by places, counted from the first byte: whatever a file makes of one, it is a number,
// which is compared with how many bytes there are before anything is read there.
class Walk final {
 public:
  Walk(Span<const uint8_t> bytes, const SchemaShape& shape)
      : shape_(shape), bytes_(bytes), parts_left_(bytes.size()) {}

  bool root() {
    size_t at = 0;
    return follow(&at) && table(at, shape_.root);
  }
  bool has_too_many_parts() const { return has_too_many_parts_; }

 private:
  bool pay(uint64_t bytes) {
    has_too_many_parts_ = bytes > parts_left_;
    if (!has_too_many_parts_) parts_left_ -= bytes;
    return !has_too_many_parts_;
  }

  bool fits(size_t at, uint64_t bytes) const {
    return bytes < bytes_.size() && at <= bytes_.size() - bytes;
  }
  // Whether a number of so many bytes, a power of two, can be there.
  bool has_number(size_t at, size_t bytes) const {
    return (at & (bytes - 1)) == 0 && fits(at, bytes);
  }
  template <typename T>
  T number(size_t at) const {
    return flatbuffers::ReadScalar<T>(bytes_.data() + at);
  }
  // To what the offset there is the offset of. Less than all bytes, of which there are fewer
  // than 2^31, so that the sum is no smaller number.
  bool follow(size_t* at) const {
    if (!has_number(*at, sizeof(uoffset_t))) return false;
    const uoffset_t offset = number<uoffset_t>(*at);
    if (offset == 0 || offset >= bytes_.size()) return false;
    *at += offset;
    return fits(*at, 1);
  }

  bool table(size_t at, uint8_t which) {
    if (!has_number(at, sizeof(soffset_t)) || ++depth_ > kMaxDepth) return false;
    const size_t vtable = at - static_cast<size_t>(ptrdiff_t{number<soffset_t>(at)});
    if (!has_number(vtable, sizeof(voffset_t))) return false;
    const size_t vtable_bytes = number<voffset_t>(vtable);
    if (vtable_bytes % sizeof(voffset_t) != 0 || !fits(vtable, vtable_bytes)) return false;
    if (!pay(sizeof(soffset_t))) return false;
    const TableShape& shape = shape_.tables[which];
    // Of the union that comes next.
    uint8_t kind = 0;
    for (uint8_t i = 0; i < shape.num_fields; ++i) {
      const FieldShape& field = shape_.fields[shape.first_field + i];
      const size_t entry = flatbuffers::FieldIndexToOffset(i);
      const size_t place = entry < vtable_bytes ? number<voffset_t>(vtable + entry) : 0;
      if (place == 0) {
        if (field.form == Form::Kind) kind = 0;
        continue;
      }
      size_t target = at + place;
      if (!field.is_list && (field.form == Form::Number || field.form == Form::Kind)) {
        if (!has_number(target, field.detail)) return false;
        if (field.form == Form::Kind) kind = bytes_[target];
        continue;
      }
      if (!follow(&target) || !pay(sizeof(uoffset_t))) return false;
      if (!(field.is_list ? list(target, field) : part(target, field, kind))) return false;
    }
    --depth_;
    return true;
  }

  bool part(size_t at, const FieldShape& field, uint8_t kind) {
    if (field.form == Form::Table) return table(at, field.detail);
    if (field.form == Form::Text) {
      const uint64_t bytes = find_bytes(at, 1);
      const size_t end = at + static_cast<size_t>(bytes);
      return bytes != 0 && fits(end, 1) && bytes_[end] == '\0' && pay(bytes + 1);
    }
    const TableShape& all = shape_.tables[field.detail];
    // Nobody reads a table of a kind that is not known.
    if (kind == 0 || kind > all.num_fields) return true;
    return table(at, shape_.fields[all.first_field + kind - 1].detail);
  }

  bool list(size_t at, const FieldShape& field) {
    const bool is_inline = field.form == Form::Number;
    const uint64_t bytes = find_bytes(at, is_inline ? field.detail : sizeof(uoffset_t));
    if (bytes == 0 || !pay(bytes)) return false;
    if (is_inline) return true;
    for (uoffset_t left = number<uoffset_t>(at); left > 0; --left) {
      at += sizeof(uoffset_t);
      if (!part(at + number<uoffset_t>(at), field, 0)) return false;
    }
    return true;
  }

  // Of a count and as many elements behind it; 0 if they are not all there.
  uint64_t find_bytes(size_t at, size_t width) const {
    if (!has_number(at, sizeof(uoffset_t))) return 0;
    const uint64_t bytes = sizeof(uoffset_t) + uint64_t{number<uoffset_t>(at)} * width;
    return fits(at, bytes) ? bytes : 0;
  }

  const SchemaShape& shape_;
  const Span<const uint8_t> bytes_;
  uint64_t parts_left_;
  uint32_t depth_ = 0;
  bool has_too_many_parts_ = false;
};

}  // namespace

TableCheck check_tables(Span<const uint8_t> bytes, const SchemaShape& shape,
                        const char* identifier) {
  if (bytes.size() < (FLATBUFFERS_MIN_BUFFER_SIZE) ||
      !flatbuffers::BufferHasIdentifier(bytes.data(), identifier)) {
    return TableCheck::Damaged;
  }
  Walk walk(bytes, shape);
  if (walk.root()) return TableCheck::Good;
  return walk.has_too_many_parts() ? TableCheck::TooManyParts : TableCheck::Damaged;
}

}  // namespace petrel::runtime
