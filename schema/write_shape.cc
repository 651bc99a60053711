// SPDX-License-Identifier: Apache-2.0
//
// Writes a header with the shape of a schema (schema/table_shape.h) to stdout:
//
//   write_shape kProgramShape schema/program.bfbs
//
// Refuses what the runtime's verifier does not go through: required and deprecated fields,
// structures that are not in lists, lists of unions, and more than a byte can count.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "flatbuffers/reflection_generated.h"

namespace {

// "Tensor" of "petrel.schema.program.Tensor".
std::string short_name(const flatbuffers::String& name) {
  return name.str().substr(name.str().rfind('.') + 1);
}

[[noreturn]] void refuse(const std::string& name, const char* problem) {
  std::fprintf(stderr, "write_shape: %s %s\n", name.c_str(), problem);
  std::exit(1);
}

class Writer {
 public:
  explicit Writer(const reflection::Schema& schema) : schema_(schema) {}

  void write(const char* name) {
    for (const reflection::Object* object : *schema_.objects()) add_table(*object);
    for (const reflection::Enum* one : *schema_.enums()) {
      if (one->is_union()) add_union(*one);
    }
    if (num_fields_ > 255 || num_tables_ > 255) refuse(name, "has more than 255 fields or tables");
    std::printf(
        "// Written by schema/write_shape.cc.\n#pragma once\n"
        "#include \"schema/table_shape.h\"\n\nnamespace petrel::schema {\n\n");
    std::printf("inline constexpr FieldShape %sFields[] = {\n%s};\n\n", name, fields_.c_str());
    std::printf("inline constexpr TableShape %sTables[] = {\n%s};\n\n", name, tables_.c_str());
    std::printf("inline constexpr SchemaShape %s = {%sTables, %sFields, %zu};\n\n", name, name,
                name, index_of(*schema_.root_table()));
    std::printf("}  // namespace petrel::schema\n");
  }

 private:
  size_t index_of(const reflection::Object& wanted) const {
    const auto& all = *schema_.objects();
    return static_cast<size_t>(std::find(all.begin(), all.end(), &wanted) - all.begin());
  }

  // Unions are behind all tables.
  size_t index_of_union(int32_t index) const {
    size_t place = schema_.objects()->size();
    for (int32_t i = 0; i < index; ++i) place += schema_.enums()->Get(i)->is_union() ? 1 : 0;
    return place;
  }

  void begin_table(const std::string& name, size_t num_fields) {
    tables_ += "    {" + std::to_string(num_fields_) + ", " + std::to_string(num_fields) +
               "},  // " + name + "\n";
    ++num_tables_;
  }

  void add_field(const char* form, bool is_list, size_t detail, const std::string& name) {
    fields_ += std::string("    {FieldShape::Form::") + form + ", " + (is_list ? "true" : "false") +
               ", " + std::to_string(detail) + "},  // " + name + "\n";
    ++num_fields_;
  }

  void add_table(const reflection::Object& table) {
    const std::string name = short_name(*table.name());
    if (table.is_struct()) return begin_table(name, 0);
    std::vector<const reflection::Field*> fields(table.fields()->begin(), table.fields()->end());
    std::sort(fields.begin(), fields.end(),
              [](const auto* a, const auto* b) { return a->id() < b->id(); });
    begin_table(name, fields.size());
    for (const reflection::Field* field : fields) add(*field, name + "." + field->name()->str());
  }

  void add_union(const reflection::Enum& one) {
    begin_table(short_name(*one.name()), one.values()->size() - 1);
    int64_t last = 0;
    for (const reflection::EnumVal* value : *one.values()) {
      if (value->value() == 0) continue;
      const std::string name = short_name(*one.name()) + "." + value->name()->str();
      if (value->value() != ++last) refuse(name, "leaves out a number");
      if (value->union_type()->base_type() != reflection::Obj) refuse(name, "is no table");
      add_field("Table", false, static_cast<size_t>(value->union_type()->index()), name);
    }
  }

  void add(const reflection::Field& field, const std::string& name) {
    if (field.required() || field.deprecated()) refuse(name, "is required or deprecated");
    const reflection::Type& type = *field.type();
    const bool is_list = type.base_type() == reflection::Vector;
    const reflection::BaseType held = is_list ? type.element() : type.base_type();
    if (held == reflection::String) return add_field("Text", is_list, 0, name);
    if (held == reflection::UType && !is_list) return add_field("Kind", false, 1, name);
    if (held == reflection::Union && !is_list) {
      return add_field("Union", false, index_of_union(type.index()), name);
    }
    if (held == reflection::Obj) {
      const reflection::Object& object = *schema_.objects()->Get(type.index());
      if (!object.is_struct()) return add_field("Table", is_list, type.index(), name);
      if (!is_list) refuse(name, "is a structure outside a list");
      return add_field("Number", true, object.bytesize(), name);
    }
    if (held < reflection::Bool || held > reflection::Double) refuse(name, "has an unknown type");
    add_field("Number", is_list, is_list ? type.element_size() : type.base_size(), name);
  }

  const reflection::Schema& schema_;
  std::string fields_;
  std::string tables_;
  size_t num_fields_ = 0;
  size_t num_tables_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) refuse("usage:", "NAME FILE.bfbs");
  std::ifstream file(argv[2], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (!reflection::VerifySchemaBuffer(verifier)) refuse(argv[2], "is no schema");
  Writer(*reflection::GetSchema(bytes.data())).write(argv[1]);
}
