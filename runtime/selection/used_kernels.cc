// SPDX-License-Identifier: Apache-2.0
//
// Writes the names of the kernels that programs call, as the C++ source that
// petrel_registry(programs = [...]) selects with:
//
//   used_kernels OUT.inc MODEL.pte...
//
//   "aten::addmm.out",
//   "aten::relu.out",
//
// Names of primitive operators, which every runtime has, are among them.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "runtime/program/extended_header.h"
#include "runtime/program/program_verifier.h"

namespace {

using petrel::runtime::Error;
using petrel::runtime::ExtendedHeader;
using petrel::runtime::ProgramFile;

bool fail(const std::string& path, const char* what) {
  std::fprintf(stderr, "used_kernels: %s %s\n", path.c_str(), what);
  return false;
}

// Names go into a source file, between quotation marks.
bool is_plain(const std::string& name) {
  for (const char c : name) {
    if (c < ' ' || c > '~' || c == '"' || c == '\\') return false;
  }
  return !name.empty();
}

bool add_names(const std::string& path, std::set<std::string>* names) {
  std::ifstream stream(path, std::ios::binary);
  // Memory from new is aligned as programs must be.
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.good() && bytes.empty()) return fail(path, "cannot be read");
  if (bytes.size() < ExtendedHeader::kNumHeadBytes) return fail(path, "is too short for a program");
  ProgramFile file;
  file.program = {bytes.data(), bytes.size()};
  file.file_size = bytes.size();
  file.max_arena_bytes = UINT64_MAX;
  const auto header = ExtendedHeader::parse({bytes.data(), ExtendedHeader::kNumHeadBytes});
  if (header.ok()) {
    if (header->verify(bytes.size()) != Error::Ok) return fail(path, "has a damaged header");
    file.program = {bytes.data(), static_cast<size_t>(header->program_size)};
    file.segment_base = header->segment_base_offset;
    file.segment_data_size = header->segment_data_size;
  } else if (header.error() != Error::NotFound) {
    return fail(path, "has a damaged header");
  }
  const auto program = petrel::runtime::verify_program(file);
  if (!program.ok()) return fail(path, "is not a valid program");
  for (uint32_t m = 0; m < program->num_methods(); ++m) {
    const auto method = program->method(m);
    for (uint32_t i = 0; i < method.num_operators(); ++i) {
      const auto op = method.op(i);
      std::string name(op.name);
      if (!op.overload.empty()) name.append(".").append(op.overload);
      if (!is_plain(name)) return fail(path, "has an operator with a malformed name");
      names->insert(name);
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: used_kernels OUT.inc MODEL.pte...\n");
    return 2;
  }
  std::set<std::string> names;
  for (int i = 2; i < argc; ++i) {
    if (!add_names(argv[i], &names)) return 1;
  }
  std::ofstream out(argv[1], std::ios::trunc);
  for (const std::string& name : names) out << '"' << name << "\",\n";
  out.close();
  if (out.good()) return 0;
  fail(argv[1], "cannot be written");
  return 1;
}
