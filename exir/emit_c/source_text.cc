// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/text_files.h"

namespace petrel::exir::emit_c {
namespace {

constexpr char kInit[] =
    R"(int32_t petrel_init(struct petrel_context *context, const struct petrel_pools *pools) {
  if (context == NULL || pools == NULL) return PETREL_E_NULL;
)";

// Whether a tensor that is not in its place lies in the arena, where steps write.
constexpr char kStrays[] =
    R"(static bool petrel_strays(const struct petrel_context *context, const void *data, size_t bytes,
    const void *place) {
  const uintptr_t first = (uintptr_t)data;
)";

std::string parameters_of(const CStep& step) {
  if (step.memories.empty()) return "void";
  return absl::StrCat("unsigned char *", absl::StrJoin(step.memories, ", unsigned char *"));
}

std::string arguments_of(const CStep& step) {
  if (step.memories.empty()) return "";
  return absl::StrCat("context->", absl::StrJoin(step.memories, ", context->"));
}

std::string init_text(const Package& package) {
  const std::string fails = absl::StrCat(") return ", package.capitals, "_E_");
  std::string text;
  for (const CMemory& memory : package.memories) {
    if (!memory.is_used()) continue;
    const std::string member = absl::StrCat("pools->", memory.member);
    absl::StrAppend(&text, "  if (", member, " == NULL", fails, "NULL;\n  if (", member,
                    "_bytes < ", memory.bytes_macro, fails, "SIZE;\n  if ((uintptr_t)", member,
                    " % ", memory.align_macro, " != 0", fails, "ALIGN;\n  context->",
                    memory.variable, " = (unsigned char *)", member, ";\n");
  }
  return text;
}

std::string strays_text(const Package& package) {
  std::string begins, meets;
  for (const CMemory& memory : package.memories) {
    if (!memory.is_used() || memory.keeps_state) continue;
    const std::string& name = memory.variable;
    absl::StrAppend(&begins, "  const uintptr_t ", name, " = (uintptr_t)context->", name, ";\n");
    absl::StrAppend(&meets, meets.empty() ? "" : "      || ", "(first < ", name, " + ",
                    memory.bytes_macro, " && ", name, " < first + bytes)\n");
  }
  meets.pop_back();
  return absl::StrCat(begins, "  return data != place && (", meets, ");\n}\n\n");
}

// "context == NULL || context->arena == NULL": init() has not been called.
std::string no_context(const Package& package) {
  for (const CMemory& memory : package.memories) {
    if (memory.is_used()) {
      return absl::StrCat("context == NULL || context->", memory.variable, " == NULL");
    }
  }
  return "context == NULL";
}

std::string step_text(const CMethod& method, const CStep& step) {
  return absl::StrCat("/* ", absl::StrReplaceAll(step.comment, {{"\n", "\n * "}}), "\n */\n",
                      step.can_fail ? "static int32_t " : "static void ", method.prefix, "_",
                      step.function, "(", parameters_of(step), ") {\n", step.body, "}\n\n");
}

// A static function that nobody calls is a warning.
bool has_bytes(const Package& package) {
  for (const CMethod& method : package.methods) {
    for (const std::vector<CTensor>* tensors : {&method.inputs, &method.outputs}) {
      for (const CTensor& tensor : *tensors) {
        if (tensor.type.nbytes() > 0) return true;
      }
    }
  }
  return false;
}

// "context->arena + 64" of "arena + 64".
std::string in_context(const std::string& place) { return absl::StrCat("context->", place); }

std::string reset_text(const Package& package) {
  std::string text = absl::StrCat("int32_t ", package.name, "_reset_state(struct ", package.name,
                                  "_context *context) {\n", "  if (", no_context(package),
                                  ") return ", package.capitals, "_E_NULL;\n");
  for (const CState& state : package.states) {
    absl::StrAppend(&text, "  memcpy(", in_context(state.place), ", ", state.symbol, ", ",
                    state.constant->type.nbytes(), "u);\n");
  }
  return absl::StrCat(text, "  return ", package.capitals, "_OK;\n}\n\n");
}

std::string copy_text(const std::string& to, const std::string& from, int64_t count) {
  return absl::StrCat("  if ((const void *)(", to, ") != (const void *)(", from,
                      ")) {\n    memcpy(", to, ", ", from, ", ", count, "u);\n  }\n");
}

// Checks, copies, steps, and copies.
std::string run_text(const Package& package, const CMethod& method) {
  const std::string null = absl::StrCat(" return ", package.capitals, "_E_NULL;\n");
  const bool can_fail = std::any_of(method.steps.begin(), method.steps.end(),
                                    [](const CStep& step) { return step.can_fail; });
  std::string text = absl::StrCat(
      "int32_t ", method.prefix, "_run(struct ", package.name, "_context *context, const struct ",
      method.prefix, "_inputs *inputs,\n    const struct ", method.prefix, "_outputs *outputs) {\n",
      can_fail ? "  int32_t status;\n" : "", "  if (", no_context(package),
      " || inputs == NULL || outputs == NULL) {\n", "   ", null, "  }\n");
  for (const CTensor& tensor : method.inputs) {
    absl::StrAppend(&text, "  if (inputs->", tensor.c_name, " == NULL)", null);
  }
  for (const CTensor& tensor : method.outputs) {
    absl::StrAppend(&text, "  if (outputs->", tensor.c_name, " == NULL)", null);
  }
  const auto check_place = [&](const char* structure, const CTensor& tensor) {
    if (tensor.type.nbytes() == 0) return;
    absl::StrAppend(&text, "  if (", package.name, "_strays(context, ", structure, "->",
                    tensor.c_name, ", ", tensor.type.nbytes(), "u, ", in_context(tensor.place),
                    ")) {\n    return ", package.capitals, "_E_ALIAS;\n  }\n");
  };
  for (const CTensor& tensor : method.inputs) check_place("inputs", tensor);
  for (const CTensor& tensor : method.outputs) check_place("outputs", tensor);
  for (const CTensor& tensor : method.inputs) {
    text += copy_text(in_context(tensor.place), absl::StrCat("inputs->", tensor.c_name),
                      tensor.type.nbytes());
  }
  for (const CStep& step : method.steps) {
    const std::string call =
        absl::StrCat(method.prefix, "_", step.function, "(", arguments_of(step), ")");
    absl::StrAppend(&text, step.can_fail ? "  status = " : "  ", call, ";\n");
    if (!step.can_fail) continue;
    absl::StrAppend(&text, "  if (status != ", package.capitals, "_OK) return status;\n");
  }
  for (const CWrite& write : method.writes) {
    const bool placed = write.from.find(" + ") != std::string::npos;
    absl::StrAppend(&text, "  memcpy(", in_context(write.to), ", ",
                    placed ? in_context(write.from) : write.from, ", ", write.bytes, "u);\n");
  }
  for (const CTensor& tensor : method.outputs) {
    text += copy_text(absl::StrCat("outputs->", tensor.c_name), in_context(tensor.place),
                      tensor.type.nbytes());
  }
  return absl::StrCat(text, "  return ", package.capitals, "_OK;\n}\n\n");
}

std::string place_text(const Package& package, const CMethod& method, const char* role,
                       const CTensor& tensor) {
  const char* type = c_type(tensor.type.dtype);
  return absl::StrCat(type, " *", method.prefix, "_", role, "_", tensor.c_name, "(const struct ",
                      package.name, "_context *context) {\n  return (", type, " *)(void *)(",
                      in_context(tensor.place), ");\n}\n\n");
}

}  // namespace

std::string source_text(const Package& package) {
  // Of texts without names of the user, which may hold anything.
  const auto renamed = [&](const char* text) {
    return absl::StrReplaceAll(
        text, {{"petrel_", package.name + "_"}, {"PETREL_", package.capitals + "_"}});
  };
  std::string text = absl::StrCat("/* Generated by petrel gen-c; do not edit. */\n#include \"",
                                  package.name, ".h\"\n\n");
  std::set<std::string> includes = package.includes;
  includes.insert("string.h");
  for (const std::string& include : includes) absl::StrAppend(&text, "#include <", include, ">\n");
  absl::StrAppend(&text, "\n#include \"", package.name, "_params.h\"\n\n", package.kernels);
  for (const CMethod& method : package.methods) {
    for (const CStep& step : method.steps) text += step_text(method, step);
  }
  absl::StrAppend(&text, renamed(kInit), init_text(package),
                  renamed("  return petrel_reset_state(context);\n}\n\n"), reset_text(package),
                  has_bytes(package) ? renamed(kStrays) + strays_text(package) : "");
  for (const CMethod& method : package.methods) {
    text += run_text(package, method);
    const auto place = [&](const char* role, const CTensor& tensor) {
      text += place_text(package, method, role, tensor);
    };
    for (const CTensor& tensor : method.inputs) place("input", tensor);
    for (const CTensor& tensor : method.outputs) place("output", tensor);
  }
  return text;
}

}  // namespace petrel::exir::emit_c
