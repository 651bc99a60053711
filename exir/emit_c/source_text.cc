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

// Of texts without names of the user, which may hold anything.
bool is_input(const std::string& variable) { return absl::StartsWith(variable, "in_"); }
bool is_output(const std::string& variable) { return absl::StartsWith(variable, "out_"); }

std::string parameters_of(const Package& package, const CMethod& method, const CStep& step) {
  std::vector<std::string> parameters;
  for (const std::string& variable : step.memories) {
    parameters.push_back(
        absl::StrCat(is_input(variable) ? "const " : "", "unsigned char *", variable));
  }
  for (const size_t index : step.parameters) {
    const CParameter& parameter = package.parameters[index];
    parameters.push_back(
        absl::StrCat("const ", c_type(parameter.constant->type.dtype), " *", parameter.variable));
  }
  if (step.delegate.has_value()) parameters.push_back("void *handle");
  if (step.round.has_value()) parameters.push_back("uint32_t round");
  if (!step.finds.empty()) parameters.push_back("int64_t *found");
  if (step.sizes)
    parameters.push_back(absl::StrCat("const struct ", method.prefix, "_sizes *sizes"));
  return parameters.empty() ? "void" : absl::StrJoin(parameters, ", ");
}

// What run() calls it: "context->arena", "(const unsigned char *)inputs->image". `wanted` is a copy
// of the caller's outputs, whose pointers are not const.
std::string in_run(const std::string& variable) {
  if (is_input(variable)) return "(const unsigned char *)inputs->" + variable.substr(3);
  if (is_output(variable)) return "(unsigned char *)wanted." + variable.substr(4);
  return "context->" + variable;
}

// "context->rounds[1]".
std::string counter_of(const CMethod& method, size_t counter) {
  return absl::StrCat("context->", method.rounds_member, "[", counter, "]");
}

std::string arguments_of(const Package& package, const CMethod& method, const CStep& step) {
  std::vector<std::string> arguments;
  for (const std::string& variable : step.memories) arguments.push_back(in_run(variable));
  for (const size_t index : step.parameters) {
    arguments.push_back(in_run(package.parameters[index].variable));
  }
  if (step.delegate.has_value()) {
    arguments.push_back(absl::StrCat("context->delegate_", *step.delegate));
  }
  if (step.round.has_value()) arguments.push_back(counter_of(method, *step.round));
  if (!step.finds.empty()) {
    arguments.push_back(absl::StrCat("&context->", method.sizes_member, ".", step.finds));
  }
  if (step.sizes) arguments.push_back("sizes");
  return absl::StrJoin(arguments, ", ");
}

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
  for (const CMethod& method : package.methods) text += sizes_init_text(method);
  if (package.delegates.empty()) return text;
  text += "  context->open_delegates = 0u;\n";
  for (size_t i = 0; i < package.delegates.size(); ++i) {
    absl::StrAppend(&text, "  context->delegate_", i, " = NULL;\n");
  }
  return text;
}

bool has_arena(const Package& package) {
  return std::any_of(package.memories.begin(), package.memories.end(),
                     [](const CMemory& memory) { return memory.is_arena(); });
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

std::string step_text(const Package& package, const CMethod& method, const CStep& step) {
  return absl::StrCat("/* ", absl::StrReplaceAll(step.comment, {{"\n", "\n * "}}), "\n */\n",
                      step.can_fail ? "static int32_t " : "static void ", method.prefix, "_",
                      step.function, "(", parameters_of(package, method, step), ") {\n", step.body,
                      "}\n\n");
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

// "context->arena + 64" of "arena + 64".
std::string at_run(const std::string& place) {
  const size_t end = place.find(' ');
  return in_run(place.substr(0, end)) + place.substr(end);
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

std::string copy_text(const std::string& to, const std::string& from, const TensorType& type) {
  const std::string source = absl::StrCat("(const void *)(", from, ")");
  return absl::StrCat("  if ((const void *)(", to, ") != ", source, ") {\n    (void)memcpy(", to,
                      ", ", source, ", ", bytes_text(type), ");\n  }\n");
}

// A tensor must lie in its place in the arena or outside of that. An output of the caller
// lies apart from all that steps read.
std::string checks_text(const Package& package, const CMethod& method) {
  const std::string refuse = absl::StrCat("{\n    return ", package.capitals, "_E_ALIAS;\n  }\n");
  std::string text;
  std::vector<std::pair<std::string, std::string>> seen;  // borrowed ones, and their bytes
  const auto check = [&](const char* structure, const CTensor& tensor, bool is_written) {
    const std::string bytes = bytes_text(tensor.type);
    const std::string data = absl::StrCat(structure, "->", tensor.c_name);
    if (tensor.type.nbytes() == 0) return;
    if (has_arena(package)) {
      absl::StrAppend(&text, "  if (", package.name, "_strays(context, ", data, ", ", bytes, ", ",
                      package.borrows() ? "NULL" : at_run(tensor.place), ")) ", refuse);
    }
    if (!package.borrows()) return;
    for (const auto& [other, other_bytes] : seen) {
      if (!is_written) break;
      absl::StrAppend(&text, "  if (", package.name, "_meets(", data, ", ", bytes, ", ", other,
                      ", ", other_bytes, ")) ", refuse);
    }
    seen.emplace_back(data, bytes);
  };
  for (const CTensor& tensor : method.inputs) check("inputs", tensor, false);
  for (const CTensor& tensor : method.outputs) check("outputs", tensor, true);
  return text;
}

std::string input_copies_text(const Package& package, const CMethod& method) {
  std::string text;
  for (const CTensor& tensor : method.inputs) {
    if (package.borrows()) break;
    text += copy_text(at_run(tensor.place), absl::StrCat("inputs->", tensor.c_name), tensor.type);
  }
  return text;
}

// What comes before the first step: checks, and copies of inputs.
std::string begin_text(const Package& package, const CMethod& method) {
  const std::string null = package.capitals + "_E_NULL";
  std::string text;
  for (const CTensor& tensor : method.inputs) {
    text += return_if(absl::StrCat("inputs->", tensor.c_name, " == NULL"), null);
  }
  for (const CTensor& tensor : method.outputs) {
    text += return_if(absl::StrCat("outputs->", tensor.c_name, " == NULL"), null);
  }
  text += missing_pointers_text(package, method);
  const bool has_delegate =
      std::any_of(method.steps.begin(), method.steps.end(),
                  [](const CStep& step) { return step.delegate.has_value(); });
  if (has_delegate) {
    text += return_if(absl::StrCat("context->open_delegates != ", package.delegates.size(), "u"),
                      package.capitals + "_E_DEVICE");
  }
  if (!method.sizes.empty()) {
    absl::StrAppend(&text, "  status = ", method.prefix, "_set_sizes(context, inputs);\n",
                    return_errors(package));
  }
  text += checks_text(package, method);
  return text + input_copies_text(package, method);
}

// Steps are counted from 1: what comes before them is one, too.
std::string jump_text(const Package& package, const CMethod& method, const CJump& jump) {
  const std::string go = absl::StrCat("*next = ", jump.to + 1, "u;\n");
  if (jump.rounds.has_value()) {
    const std::string counter = counter_of(method, jump.rounds->counter);
    const std::string set = absl::StrCat(
        "  ", counter, jump.rounds->is_before ? " = 0u" : absl::StrCat(" = ", counter, " + 1u"),
        ";\n");
    if (jump.rounds->count.empty()) return set;
    return absl::StrCat(set, "  if ((int64_t)", counter, jump.rounds->is_before ? " >= " : " < ",
                        jump.rounds->count, ") {\n    ", go, "    return ", package.capitals,
                        "_OK;\n  }\n");
  }
  if (jump.unless.empty()) return absl::StrCat("  ", go, "  return ", package.capitals, "_OK;\n");
  return absl::StrCat("  if (!*(const bool *)(const void *)(", at_run(jump.unless), ")) {\n    ",
                      go, "    return ", package.capitals, "_OK;\n  }\n");
}

std::string call_text(const Package& package, const CMethod& method, const CStep& step) {
  if (step.jump.has_value()) return jump_text(package, method, *step.jump);
  std::string text = need_text(package, step.parameters);
  absl::StrAppend(&text, step.can_fail ? "  status = " : "  ", method.prefix, "_", step.function,
                  "(", arguments_of(package, method, step), ");\n");
  if (!step.can_fail) return text;
  return text + return_errors(package);
}

// What comes after the last step: state, and copies of outputs.
std::string end_text(const Package& package, const CMethod& method) {
  std::string text;
  for (const CWrite& write : method.writes) {
    const bool placed = write.from.find(" + ") != std::string::npos;
    if (write.parameter.has_value()) text += need_text(package, {*write.parameter});
    absl::StrAppend(&text, "  (void)memcpy(", at_run(write.to), ", (const void *)(",
                    placed                        ? at_run(write.from)
                    : write.parameter.has_value() ? in_run(write.from)
                                                  : write.from,
                    "), ", write.bytes, "u);\n");
  }
  for (const CTensor& tensor : method.outputs) {
    // Where steps write it; what is returned several times is at another.
    if (tensor.place == absl::StrCat("out_", tensor.c_name, " + 0")) continue;
    text += copy_text(absl::StrCat("outputs->", tensor.c_name), at_run(tensor.place), tensor.type);
  }
  return text;
}

std::string signature_text(const Package& package, const CMethod& method, const char* function,
                           const char* more) {
  return absl::StrCat("int32_t ", method.prefix, function, "(struct ", package.name,
                      "_context *context, const struct ", method.prefix,
                      "_inputs *inputs,\n    const struct ", method.prefix, "_outputs *outputs",
                      more, ") {\n");
}

// One step at a call, and all of them.
std::string run_text(const Package& package, const CMethod& method) {
  std::string cases;
  uint64_t count = 0;
  const auto add = [&](const std::string& body) {
    absl::StrAppend(&cases, "    case ", count++,
                    "u:", absl::StrReplaceAll("\n" + body, {{"\n  ", "\n      "}}),
                    "      break;\n");
  };
  add(begin_text(package, method));
  for (const CStep& step : method.steps) add(call_text(package, method, step));
  add(end_text(package, method));
  const bool has_sizes = absl::StrContains(cases, "sizes->") ||
                         std::any_of(method.steps.begin(), method.steps.end(),
                                     [](const CStep& step) { return step.sizes; });
  // A variable that nothing sets would be a warning.
  const bool can_fail = cases.find(" status = ") != std::string::npos;
  const bool has_wanted = absl::StrContains(cases, "wanted.");
  const std::string wanted_declared =
      absl::StrCat("  struct ", method.prefix, "_outputs wanted;\n");
  const std::string& big = package.capitals;
  return absl::StrCat(
      signature_text(package, method, "_run_step", ",\n    uint32_t *next"),
      can_fail ? "  int32_t status;\n" : "", has_wanted ? wanted_declared : "", "  if (",
      no_context(package),
      " || inputs == NULL || outputs == NULL\n      || next == NULL) {\n    return ", big,
      "_E_NULL;\n  }\n", has_wanted ? "  wanted = *outputs;\n" : "",
      has_sizes ? sizes_pointer_text(method) : "", "  switch (*next) {\n", cases,
      "    default:\n      return ", big, "_E_NOT_FOUND;\n  }\n  ++*next;\n  return ", big,
      "_OK;\n}\n\n", signature_text(package, method, "_run", ""),
      "  uint32_t next = 0;\n  int32_t status = ", big, "_OK;\n  while (next < ",
      in_capitals(method.prefix), "_STEPS && status == ", big,
      "_OK) {\n    status = ", method.prefix,
      "_run_step(context, inputs, outputs, &next);\n  }\n  return status;\n}\n\n");
}

// All steps without the checks before them. Branches go step by step, which takes the first as
// done.
std::string unchecked_text(const Package& package, const CMethod& method) {
  const bool has_jump = std::any_of(method.steps.begin(), method.steps.end(),
                                    [](const CStep& step) { return step.jump.has_value(); });
  const std::string& big = package.capitals;
  std::string body;
  if (!method.sizes.empty()) {
    absl::StrAppend(&body, "  status = ", method.prefix, "_set_sizes(context, inputs);\n",
                    return_errors(package));
  }
  body += input_copies_text(package, method);
  if (has_jump) {
    absl::StrAppend(&body, "  while (next < ", in_capitals(method.prefix),
                    "_STEPS) {\n    status = ", method.prefix,
                    "_run_step(context, inputs, outputs, &next);\n    if (status != ", big,
                    "_OK) {\n      return status;\n    }\n  }\n");
  } else {
    for (const CStep& step : method.steps) body += call_text(package, method, step);
    body += end_text(package, method);
  }
  std::string head;
  if (body.find(" status = ") != std::string::npos) head += "  int32_t status;\n";
  if (has_jump) head += "  uint32_t next = 1;\n";
  if (absl::StrContains(body, "wanted.")) {
    absl::StrAppend(&head, "  struct ", method.prefix, "_outputs wanted = *outputs;\n");
  }
  const bool has_sizes = absl::StrContains(body, "sizes->") ||
                         (!has_jump && std::any_of(method.steps.begin(), method.steps.end(),
                                                   [](const CStep& step) { return step.sizes; }));
  if (has_sizes) head += sizes_pointer_text(method);
  for (const char* name : {"context", "inputs", "outputs"}) {
    if (!absl::StrContains(head + body, name)) absl::StrAppend(&head, "  (void)", name, ";\n");
  }
  return absl::StrCat(signature_text(package, method, "_run_unchecked", ""), head, body,
                      "  return ", big, "_OK;\n}\n\n");
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
  for (const CMethod& method : package.methods) {
    for (const CStep& step : method.steps) {
      if (!step.jump.has_value()) text += step_text(package, method, step);
    }
  }
  text += pointer_text(package);
  if (package.includes_binary) text += lookup_text(package) + "\n";
  absl::StrAppend(&text, renamed(package, kInit), init_text(package),
                  renamed(package, "  return petrel_reset_state(context);\n}\n\n"),
                  reset_text(package), delegate_open_text(package),
                  has_bytes(package) && has_arena(package) ? strays_text(package) : "",
                  has_output_to_check(package) ? renamed(package, kMeets) : "");
  for (const CMethod& method : package.methods) {
    text += sizes_source_text(package, method);
    text += run_text(package, method);
    text += unchecked_text(package, method);
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
