// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "exir/emit_c/comment_text.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/names.h"
#include "exir/emit_c/text_files.h"
#include "exir/emit_c/renamed.h"
#include "exir/emit_c/returns.h"

namespace petrel::exir::emit_c {
namespace {

constexpr char kSetDeclared[] =
    R"(/* Says where an external parameter lies, which must stay there: after petrel_init() and before
 * the first run. The bytes of all of them are in petrel_params.bin, where manifest.json says. */
int32_t petrel_set_param(struct petrel_context *context, uint32_t id, const void *data,
    size_t bytes);
)";

constexpr char kHookDeclared[] =
    R"(/* Called in a run before the first use of each loaded parameter: fills its room in its pool and
 * says where the parameter is, there or elsewhere. A definition of the application, which may wait
 * for DMA, decrypt or decompress, replaces the weak one of petrel.c, which copies what is linked.
 * What it returns instead of PETREL_OK the run returns. */
int32_t petrel_on_param_load(uint32_t id, void *room, size_t bytes, const void **data);
)";

constexpr char kHook[] =
    R"(PETREL_WEAK int32_t petrel_on_param_load(uint32_t id, void *room, size_t bytes, const void **data) {
  const void *linked;
  size_t linked_bytes;
  const int32_t status = petrel_lookup_linked_param(id, &linked, &linked_bytes);
  if (status != PETREL_OK) {
    return status;
  }
  (void)memcpy(room, linked, bytes);
  *data = room;
  return PETREL_OK;
}

)";

constexpr char kSet[] =
    R"(int32_t petrel_set_param(struct petrel_context *context, uint32_t id, const void *data,
    size_t bytes) {
  if (context == NULL || data == NULL) {
    return PETREL_E_NULL;
  }
  switch (id) {
)";

// Of texts without names of the user, which may hold anything.
std::string type_of(const CParameter& parameter) { return c_type(parameter.constant->type.dtype); }

std::string misaligned_text(const Package& package, const CParameter& parameter) {
  return return_if(absl::StrCat("(uintptr_t)(const unsigned char *)data % sizeof(",
                                type_of(parameter), ") != 0u"),
                   package.capitals + "_E_ALIGN");
}

std::string assign_text(const CParameter& parameter) {
  return absl::StrCat("context->", parameter.variable, " = (const ", type_of(parameter),
                      " *)data;\n");
}

std::string set_text(const Package& package) {
  std::string cases;
  for (const CParameter& parameter : package.parameters) {
    if (!parameter.is_external || parameter.is_loaded()) continue;
    const std::string checks =
        absl::StrCat(return_if(absl::StrCat("bytes != ", parameter.constant->type.nbytes(), "u"),
                               package.capitals + "_E_SIZE"),
                     misaligned_text(package, parameter));
    absl::StrAppend(&cases, "    case ", parameter_id(parameter), "u:\n    ",
                    absl::StrReplaceAll(absl::StripSuffix(checks, "\n"), {{"\n", "\n    "}}),
                    "\n      ", assign_text(parameter), "      break;\n");
  }
  return absl::StrCat(renamed(package, kSet), cases, "    default:\n      return ",
                      package.capitals, "_E_NOT_FOUND;\n  }\n  return ", package.capitals,
                      "_OK;\n}\n\n");
}

std::string need_function(const Package& package, const CParameter& parameter) {
  return absl::StrCat(package.name, "_need_", parameter.variable);
}

// What makes sure that a loaded parameter is there.
std::string load_text(const Package& package, const CParameter& parameter) {
  const std::string& big = package.capitals;
  return absl::StrCat(
      "static int32_t ", need_function(package, parameter), "(struct ", package.name,
      "_context *context) {\n  const void *data = NULL;\n  int32_t status;\n",
      return_if(absl::StrCat("context->", parameter.variable, " != NULL"), big + "_OK"),
      "  status = ", package.name, "_on_param_load(", parameter_id(parameter), "u, context->",
      parameter.room, ", ", parameter.constant->type.nbytes(), "u, &data);\n",
      return_errors(package), return_if("data == NULL", big + "_E_NULL"),
      misaligned_text(package, parameter), "  ", assign_text(parameter), "  return ", big,
      "_OK;\n}\n\n");
}

std::set<size_t> used_by(const CMethod& method) {
  std::set<size_t> used;
  for (const CStep& step : method.steps) {
    used.insert(step.parameters.begin(), step.parameters.end());
  }
  for (const CWrite& write : method.writes) {
    if (write.parameter.has_value()) used.insert(*write.parameter);
  }
  return used;
}

}  // namespace

std::string pointer_header_text(const Package& package) {
  std::string macros;
  for (const CParameter& parameter : package.parameters) {
    if (!parameter.is_pointer()) continue;
    const std::string macro = in_capitals(absl::StrCat(package.name, "_", parameter.variable));
    absl::StrAppend(&macros, "/* ", comment_text(parameter.name), ": ",
                    to_string(parameter.constant->type), ", ",
                    parameter.is_loaded() ? "loaded" : "external", " */\n#define ", macro, "_ID ",
                    parameter_id(parameter), "u\n#define ", macro, "_BYTES ",
                    parameter.constant->type.nbytes(), "u\n");
  }
  if (macros.empty()) return "";
  return absl::StrCat("\n", macros, package.has_external() ? renamed(package, kSetDeclared) : "",
                      package.has_loaded() ? renamed(package, kHookDeclared) : "");
}

std::string pointer_text(const Package& package) {
  std::string text;
  if (package.has_loaded()) text += renamed(package, kHook);
  if (package.has_external()) text += set_text(package);
  std::set<size_t> used;
  for (const CMethod& method : package.methods) used.merge(used_by(method));
  for (const size_t index : used) {
    const CParameter& parameter = package.parameters[index];
    if (parameter.is_loaded()) text += load_text(package, parameter);
  }
  return text;
}

std::string need_text(const Package& package, const std::vector<size_t>& parameters) {
  std::string text;
  for (const size_t index : parameters) {
    const CParameter& parameter = package.parameters[index];
    if (!parameter.is_loaded()) continue;
    absl::StrAppend(&text, "  status = ", need_function(package, parameter), "(context);\n",
                    return_errors(package));
  }
  return text;
}

std::string missing_pointers_text(const Package& package, const CMethod& method) {
  std::string text;
  for (const size_t index : used_by(method)) {
    const CParameter& parameter = package.parameters[index];
    if (parameter.is_loaded()) continue;
    text += return_if(absl::StrCat("context->", parameter.variable, " == NULL"),
                      package.capitals + "_E_NULL");
  }
  return text;
}

}  // namespace petrel::exir::emit_c
