// SPDX-License-Identifier: Apache-2.0
//
// What the tables of a schema hold, in a few hundred bytes, for code that goes through any of
// them: schema/program_shape.h and schema/additions_shape.h are written from the schemas by
// schema/write_shape.cc.
//
//   const TableShape& root = kProgramShape.tables[kProgramShape.root];
//   const FieldShape& version = kProgramShape.fields[root.first_field];

#ifndef PETREL_SCHEMA_TABLE_SHAPE_H_
#define PETREL_SCHEMA_TABLE_SHAPE_H_

#include <cstdint>

namespace petrel::schema {

struct FieldShape {
  enum class Form : uint8_t {
    Number,  // of `detail` bytes; in a list also a structure
    Kind,    // a byte that tells which table the union behind it is, from 1; 0 is none
    Text,
    Table,  // tables[detail]
    Union,  // one of the fields of tables[detail]
  };

  Form form : 7;
  bool is_list : 1;
  uint8_t detail;
};

// Fields in the order of their ids, from fields[first_field] on.
struct TableShape {
  uint8_t first_field;
  uint8_t num_fields;
};

struct SchemaShape {
  const TableShape* tables;
  const FieldShape* fields;
  uint8_t root;
};

}  // namespace petrel::schema

#endif  // PETREL_SCHEMA_TABLE_SHAPE_H_
