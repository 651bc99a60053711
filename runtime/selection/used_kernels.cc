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

#include "flatbuffers/flatbuffers.h"
#include "schema/program_generated.h"

namespace {

namespace program = petrel::schema::program;

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
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && bytes.empty()) return fail(path, "cannot be read");
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), /*max_depth=*/64,
                                 /*max_tables=*/100'000'000);
  if (!program::VerifyProgramBuffer(verifier)) return fail(path, "is not a valid program");
  const auto* plans = program::GetProgram(bytes.data())->execution_plan();
  if (plans == nullptr) return fail(path, "has no methods");
  for (const auto* plan : *plans) {
    if (plan->operators() == nullptr) continue;
    for (const auto* op : *plan->operators()) {
      if (op->name() == nullptr) return fail(path, "has an operator with no name");
      std::string name = op->name()->str();
      if (op->overload() != nullptr && op->overload()->size() != 0) {
        name += "." + op->overload()->str();
      }
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
