// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "exir/emit_c/emit_c.h"
#include "exir/emit_c/sources.h"

namespace petrel::exir::emit_c {
namespace {

constexpr size_t kBytesPerLine = 24;

// "1,2,3", in lines.
std::string byte_list(absl::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char* const before = i == 0 ? "" : i % kBytesPerLine == 0 ? ",\n    " : ",";
    absl::StrAppend(&text, before, static_cast<int>(static_cast<unsigned char>(bytes[i])));
  }
  return text;
}

}  // namespace

std::vector<CFile> module_files(const std::string& name, const std::vector<CFile>& files) {
  std::string manifest;
  for (const CFile& file : files) {
    if (file.name == "manifest.json") manifest = file.text;
  }
  const Sha256 sha256 = sha256_of_sources(name, files);
  const absl::string_view digest(reinterpret_cast<const char*>(sha256.data()), sha256.size());
  const std::string text = absl::StrCat(
      "#include \"", name, ".h\"\n\n#include \"petrel_model.h\"\n#include \"petrel_module.h\"\n\n",
      "__attribute__((visibility(\"default\")))\n",
      "const struct petrel_model_metadata *petrel_compiled_model(void);\n",
      "const struct petrel_model_metadata *petrel_compiled_model(void) {\n  return ", name,
      "_get_model_metadata();\n}\n\nstatic const struct {\n  struct petrel_module_header header;\n",
      "  unsigned char manifest[", manifest.size(), "];\n} ", name,
      "_module __attribute__((section(PETREL_MODULE_SECTION), used)) = {\n",
      "    {PETREL_MODULE_MAGIC, PETREL_MODEL_ABI_VERSION, ", manifest.size(), "u, 0u,\n    {",
      byte_list(digest), "},\n    {0}},\n    {", byte_list(manifest), "}};\n");
  return {{name + "_module.c", text},
          {"petrel_module.h", std::string(find_source("model/petrel_module.h")->text)}};
}

}  // namespace petrel::exir::emit_c
