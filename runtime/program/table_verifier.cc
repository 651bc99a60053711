// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/table_verifier.h"

#include "flatbuffers/flatbuffers.h"

namespace petrel::runtime {
namespace {

using flatbuffers::ReadScalar;
using flatbuffers::soffset_t;
using flatbuffers::uoffset_t;
using flatbuffers::voffset_t;
using schema::FieldShape;
using schema::SchemaShape;
using schema::TableShape;
using Form = FieldShape::Form;

const uint8_t* follow(const uint8_t* offset) { return offset + ReadScalar<uoffset_t>(offset); }

class Walk final {
 public:
  Walk(Span<const uint8_t> bytes, const SchemaShape& shape,
       const flatbuffers::Verifier::Options& options)
      : shape_(shape), verifier_(bytes.data(), bytes.size(), options), parts_left_(bytes.size()) {}

  bool root(const uint8_t* bytes) {
    return verifier_.VerifyOffset(0) != 0 && table(follow(bytes), shape_.root);
  }
  bool has_too_many_parts() const { return has_too_many_parts_; }

 private:
  bool pay(uint64_t bytes) {
    has_too_many_parts_ = bytes > parts_left_;
    if (!has_too_many_parts_) parts_left_ -= bytes;
    return !has_too_many_parts_;
  }

  bool table(const uint8_t* data, uint8_t which) {
    if (!verifier_.VerifyTableStart(data) || !pay(sizeof(soffset_t))) return false;
    const auto& table = *reinterpret_cast<const flatbuffers::Table*>(data);
    const TableShape& shape = shape_.tables[which];
    // Of the union that comes next.
    uint8_t kind = 0;
    for (uint8_t i = 0; i < shape.num_fields; ++i) {
      const FieldShape& field = shape_.fields[shape.first_field + i];
      const voffset_t place = table.GetOptionalFieldOffset(flatbuffers::FieldIndexToOffset(i));
      if (place == 0) {
        if (field.form == Form::Kind) kind = 0;
        continue;
      }
      if (!field.is_list && (field.form == Form::Number || field.form == Form::Kind)) {
        if (!verifier_.VerifyFieldStruct(data, place, field.detail, field.detail)) return false;
        if (field.form == Form::Kind) kind = data[place];
        continue;
      }
      if (verifier_.VerifyOffset(data, place) == 0 || !pay(sizeof(uoffset_t))) return false;
      const uint8_t* const target = follow(data + place);
      if (!(field.is_list ? list(target, field) : part(target, field, kind))) return false;
    }
    return verifier_.EndTable();
  }

  bool part(const uint8_t* data, const FieldShape& field, uint8_t kind) {
    if (field.form == Form::Table) return table(data, field.detail);
    if (field.form == Form::Text) {
      return verifier_.VerifyString(reinterpret_cast<const flatbuffers::String*>(data)) &&
             pay(sizeof(uoffset_t) + uint64_t{ReadScalar<uoffset_t>(data)} + 1);
    }
    const TableShape& all = shape_.tables[field.detail];
    // Nobody reads a table of a kind that is not known.
    if (kind == 0 || kind > all.num_fields) return true;
    return table(data, shape_.fields[all.first_field + kind - 1].detail);
  }

  bool list(const uint8_t* data, const FieldShape& field) {
    const bool is_inline = field.form == Form::Number;
    const size_t width = is_inline ? field.detail : sizeof(uoffset_t);
    if (!verifier_.VerifyVectorOrString(data, width)) return false;
    const uoffset_t count = ReadScalar<uoffset_t>(data);
    if (!pay(sizeof(uoffset_t) + uint64_t{count} * width)) return false;
    if (is_inline) return true;
    for (uoffset_t i = 1; i <= count; ++i) {
      if (!part(follow(data + i * sizeof(uoffset_t)), field, 0)) return false;
    }
    return true;
  }

  const SchemaShape& shape_;
  flatbuffers::Verifier verifier_;
  uint64_t parts_left_;
  bool has_too_many_parts_ = false;
};

}  // namespace

TableCheck check_tables(Span<const uint8_t> bytes, const SchemaShape& shape,
                        const char* identifier) {
  if (bytes.size() < (FLATBUFFERS_MIN_BUFFER_SIZE) ||
      !flatbuffers::BufferHasIdentifier(bytes.data(), identifier)) {
    return TableCheck::Damaged;
  }
  flatbuffers::Verifier::Options options;
  // Every table takes four bytes at least, and so does every reference to one.
  options.max_tables = static_cast<uoffset_t>(bytes.size() / sizeof(uoffset_t) + 1);
  Walk walk(bytes, shape, options);
  if (walk.root(bytes.data())) return TableCheck::Good;
  return walk.has_too_many_parts() ? TableCheck::TooManyParts : TableCheck::Damaged;
}

}  // namespace petrel::runtime
