// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "exir/emit_c/kernel_library.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/names.h"
#include "exir/emit_c/plain_terms.h"
#include "exir/emit_c/text_files.h"
#include "exir/emit_c/renamed.h"
#include "exir/emit_c/returns.h"

namespace petrel::exir::emit_c {
namespace {

constexpr char kInit[] =
    R"(int32_t petrel_init(struct petrel_context *context, const struct petrel_pools *pools) {
  if (context == NULL || pools == NULL) {
    return PETREL_E_NULL;
  }
)";

// Where gcc 12 knows that a kernel reads and writes one array at distances that vary, it may take
// the kernel for one that writes nothing, and drop the call. As a function of two pointers it is
// safe.
constexpr char kKernel[] =
    R"(/* A kernel is not made part of its callers, in which its input and output are one array: gcc 12
 * drops some of those. */
#if defined(__GNUC__)
#define PETREL_KERNEL __attribute__((noinline))
#else
#define PETREL_KERNEL
#endif

)";

constexpr char kWeak[] =
    R"~(/* Of the linker. Define it for compilers that are not known here. */
#ifndef PETREL_WEAK
#if defined(__GNUC__)
#define PETREL_WEAK __attribute__((weak))
#else
#error "define PETREL_WEAK"
#endif
#endif

)~";

// An output must not lie where steps read something else.
constexpr char kMeets[] =
    R"(static bool petrel_meets(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
  const uintptr_t first = (uintptr_t)(const unsigned char *)a;
  const uintptr_t second = (uintptr_t)(const unsigned char *)b;
  return first < second + b_bytes && second < first + a_bytes;
}

)";

// Whether a tensor that is not in its place lies in the arena, where steps write.
constexpr char kStrays[] =
    R"(static bool petrel_strays(const struct petrel_context *context, const void *data, size_t bytes,
    const void *place) {
  const uintptr_t first = (uintptr_t)(const unsigned char *)data;
)";

std::string init_text(const Package& package) {
  const std::string error = package.capitals + "_E_";
  std::string text;
  for (const CMemory& memory : package.memories) {
    if (!memory.is_used()) continue;
    const std::string member = absl::StrCat("pools->", memory.member);
    absl::StrAppend(
        &text, return_if(member + " == NULL", error + "NULL"),
        return_if(absl::StrCat(member, "_bytes < ", memory.bytes_macro), error + "SIZE"),
        return_if(absl::StrCat("(uintptr_t)", member, " % ", memory.align_macro, " != 0u"),
                  error + "ALIGN"),
        "  context->", memory.variable, " = ",
        memory.pool.has_value() ? member + "->bytes" : "(unsigned char *)" + member, ";\n");
  }
  for (const CParameter& parameter : package.parameters) {
    if (!parameter.is_pointer()) continue;
    absl::StrAppend(&text, "  context->", parameter.variable, " = NULL;\n");
  }
  for (const CMethod& method : package.methods) {
    text += sizes_init_text(method);
    for (size_t i = 0; i < method.loops; ++i) {
      absl::StrAppend(&text, "  context->", method.rounds_member, "[", i, "] = 0u;\n");
    }
  }
  if (package.delegates.empty()) return text;
  text += "  context->open_delegates = 0u;\n";
  for (size_t i = 0; i < package.delegates.size(); ++i) {
    absl::StrAppend(&text, "  context->delegate_", i, " = NULL;\n");
  }
  return text;
}

// Precondition: has_arena().
std::string strays_text(const Package& package) {
  std::string begins, meets;
  for (const CMemory& memory : package.memories) {
    if (!memory.is_arena()) continue;
    const std::string& name = memory.variable;
    absl::StrAppend(&begins, "  const uintptr_t ", name, " = (uintptr_t)context->", name, ";\n");
    absl::StrAppend(&meets, meets.empty() ? "" : "      || ", "(first < ", name, " + ",
                    memory.bytes_macro, " && ", name, " < first + bytes)\n");
  }
  meets.pop_back();
  return absl::StrCat(renamed(package, kStrays), begins, "  return data != place && (", meets,
                      ");\n}\n\n");
}

// Whether an output is compared with a tensor before it; see has_bytes().
bool has_output_to_check(const Package& package) {
  for (const CMethod& method : package.methods) {
    int64_t seen = 0;
    const auto has_bytes = [](const CTensor& tensor) { return tensor.type.nbytes() > 0; };
    seen += std::count_if(method.inputs.begin(), method.inputs.end(), has_bytes);
    const auto outputs = std::count_if(method.outputs.begin(), method.outputs.end(), has_bytes);
    if (package.borrows() && outputs > 0 && seen + outputs > 1) return true;
  }
  return false;
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

std::string reset_text(const Package& package) {
  std::string text = absl::StrCat("int32_t ", package.name, "_reset_state(struct ", package.name,
                                  "_context *context) {\n",
                                  return_if(no_context(package), package.capitals + "_E_NULL"));
  for (const CState& state : package.states) {
    absl::StrAppend(&text, "  (void)memcpy(", at_run(state.place), ", (const void *)", state.symbol,
                    ", ", state.constant->type.nbytes(), "u);\n");
  }
  return absl::StrCat(text, "  return ", package.capitals, "_OK;\n}\n\n");
}

// Where tensors lie in the memory of the model, one by one and all together.
std::string places_text(const Package& package, const CMethod& method, const char* role,
                        const std::vector<CTensor>& tensors) {
  const std::string context =
      absl::StrCat("(const struct ", package.name, "_context *context) {\n");
  const std::string type = absl::StrCat("struct ", method.prefix, "_", role, "s");
  std::string text, members;
  for (const CTensor& tensor : tensors) {
    const std::string pointer = absl::StrCat(c_type(tensor.type.dtype), " *");
    const std::string name = absl::StrCat(method.prefix, "_", role, "_", tensor.c_name);
    absl::StrAppend(&text, pointer, name, context, "  return (", pointer, ")(void *)(",
                    at_run(tensor.place), ");\n}\n\n");
    absl::StrAppend(&members, "  tensors.", tensor.c_name, " = ", name, "(context);\n");
    if (!tensor.varies() || role[0] != 'i') continue;
    absl::StrAppend(&members, "  ", name, "_sizes(context, tensors.", tensor.c_name, "_sizes);\n");
  }
  if (tensors.empty()) members = "  (void)context;\n  tensors.none = 0;\n";
  return absl::StrCat(text, type, " ", method.prefix, "_map_", role, "s", context, "  ", type,
                      " tensors;\n", members, "  return tensors;\n}\n\n");
}

}  // namespace

bool has_arena(const Package& package) {
  return std::any_of(package.memories.begin(), package.memories.end(),
                     [](const CMemory& memory) { return memory.is_arena(); });
}

std::string no_context(const Package& package) {
  for (const CMemory& memory : package.memories) {
    if (memory.is_used()) {
      return absl::StrCat("context == NULL || context->", memory.variable, " == NULL");
    }
  }
  return "context == NULL";
}

std::string source_text(const Package& package) {
  const std::string kernels =
      package.kernels.empty() ? "" : absl::StrCat(renamed(package, kKernel), package.kernels);
  std::string text;
  if (package.has_loaded()) text += renamed(package, kWeak);
  text += delegate_source_text(package);
  for (const CMethod& method : package.methods) text += steps_text(package, method);
  text += pointer_text(package);
  if (package.includes_binary) text += lookup_text(package) + "\n";
  absl::StrAppend(&text, renamed(package, kInit), init_text(package),
                  renamed(package, "  return petrel_reset_state(context);\n}\n\n"),
                  reset_text(package), delegate_open_text(package),
                  has_bytes(package) && has_arena(package) ? strays_text(package) : "",
                  has_output_to_check(package) ? renamed(package, kMeets) : "");
  for (const CMethod& method : package.methods) {
    text += sizes_source_text(package, method);
    text += runs_text(package, method);
    if (package.borrows()) continue;
    text += places_text(package, method, "input", method.inputs);
    text += places_text(package, method, "output", method.outputs);
  }
  text = kernels + with_plain_terms(text);
  std::set<std::string> includes = standard_includes(text);
  includes.insert(package.includes.begin(), package.includes.end());
  includes.insert("string.h");
  for (const CDelegateCall& call : package.delegates) {
    includes.insert(call.code.includes.begin(), call.code.includes.end());
  }
  std::string head = absl::StrCat("/* Generated by petrel gen-c; do not edit. */\n#include \"",
                                  package.name, ".h\"\n\n");
  for (const std::string& include : includes) absl::StrAppend(&head, "#include <", include, ">\n");
  return absl::StrCat(
      head, package.conditional_includes, "\n#include \"", package.name, "_params.h\"\n",
      user_files(package).empty() ? ""
                                  : absl::StrCat("#include \"", package.name, "_kernels.h\"\n"),
      package.delegates.empty() ? "" : "#include \"petrel_delegate.h\"\n", "\n", text);
}

}  // namespace petrel::exir::emit_c
