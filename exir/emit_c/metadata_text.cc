// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/returns.h"
#include "exir/emit_c/sources.h"
#include "exir/emit_c/text_files.h"

namespace petrel::exir::emit_c {
namespace {

std::string array_of(const std::string& declaration, const std::vector<std::string>& values) {
  return absl::StrCat("static const ", declaration, "[] = {", absl::StrJoin(values, ", "), "};\n");
}

// "0.5, -128"
std::string levels_text(const std::optional<CLevels>& levels) {
  return levels.has_value() ? absl::StrCat(number(levels->scale), ", ", number(levels->zero_point))
                            : "0.0, 0";
}

// A function that gives the place of one tensor, and its name.
std::string add_place(const std::string& context, const std::string& name,
                      const std::string& accessor, std::string* text) {
  absl::StrAppend(text, "static void *", name, "(const void *context) {\n  return ", accessor,
                  "((const struct ", context, " *)context);\n}\n\n");
  return name;
}

// A function that tells the sizes of one tensor, and its name.
std::string add_actual(const Package& package, const CMethod& method, const std::string& name,
                       const std::string& tensor, std::string* text) {
  absl::StrAppend(text, "static void ", name, "(const void *context, int32_t *sizes) {\n  ",
                  method.prefix, "_", tensor, "_sizes((const struct ", package.name,
                  "_context *)context, sizes);\n}\n\n");
  return name;
}

// The tables of one list of tensors; "NULL" when it is empty, else their name. `role` is
// "input" or "output". Names of tables end as no name that is made of the user's does.
std::string add_tensors(const Package& package, const CMethod& method, const char* role,
                        const std::vector<CTensor>& tensors, std::string* text) {
  if (tensors.empty()) return "NULL";
  const std::string name = absl::StrCat(method.prefix, "_", role, "s_info");
  std::string rows;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorType& type = tensors[i].type;
    std::string sizes = "NULL", order = "NULL";
    if (type.rank() > 0) {
      sizes = absl::StrCat(name, "_sizes_", i);
      order = absl::StrCat(name, "_order_", i);
      std::vector<std::string> size_texts, order_texts;
      for (const int64_t size : type.sizes) size_texts.push_back(number(size));
      for (const uint8_t dim : type.dim_order) order_texts.push_back(absl::StrCat(dim));
      *text += array_of(absl::StrCat("int32_t ", sizes), size_texts);
      *text += array_of(absl::StrCat("uint8_t ", order), order_texts);
    }
    std::string least = "NULL", actual = "NULL";
    if (tensors[i].varies()) {
      least = absl::StrCat(name, "_least_", i);
      std::vector<std::string> least_texts;
      for (const int64_t size : least_sizes(type)) least_texts.push_back(number(size));
      *text += array_of(absl::StrCat("int32_t ", least), least_texts);
      actual = add_actual(package, method, absl::StrCat(name, "_actual_", i),
                          absl::StrCat(role, "_", tensors[i].c_name), text);
    }
    const std::string place =
        package.borrows()
            ? "NULL"
            : add_place(package.name + "_context", absl::StrCat(name, "_place_", i),
                        absl::StrCat(method.prefix, "_", role, "_", tensors[i].c_name), text);
    absl::StrAppend(&rows, "    {", quoted(tensors[i].name), ", ", quoted(tensors[i].c_name), ", ",
                    static_cast<int>(type.dtype), ", ", type.rank(), "u, ", sizes, ", ", order,
                    ", ", type.nbytes(), "u, ", least, ", ", actual, ", ", place, ",\n     ",
                    levels_text(tensors[i].levels), "},\n");
  }
  absl::StrAppend(text, "static const struct petrel_tensor_info ", name, "[] = {\n", rows,
                  "};\n\n");
  return name;
}

// The numbers that petrel_model.h has.
int kind_of(const CParameter& parameter) {
  if (parameter.is_loaded()) return 2;
  if (parameter.is_external) return 3;
  if (parameter.is_of_delegates) return 4;
  return parameter.pool == nullptr ? 0 : 1;
}

// The table of parameters; "NULL" when it is empty, else its name.
std::string add_params(const Package& package, std::string* text) {
  if (package.parameters.empty()) return "NULL";
  // No parameter is called so: symbols of theirs begin with NAME_param_.
  const std::string name = package.name + "_parameter_infos";
  std::string rows;
  for (size_t i = 0; i < package.parameters.size(); ++i) {
    const CParameter& parameter = package.parameters[i];
    const TensorType& type = parameter.constant->type;
    std::string sizes = "NULL";
    if (type.rank() > 0) {
      sizes = absl::StrCat(name, "_sizes_", i);
      std::vector<std::string> texts;
      for (const int64_t size : type.sizes) texts.push_back(number(size));
      *text += array_of(absl::StrCat("int32_t ", sizes), texts);
    }
    absl::StrAppend(&rows, "    {", quoted(parameter.name), ", ", parameter_id(parameter), "u, ",
                    kind_of(parameter), ", ", static_cast<int>(type.dtype), ", ", type.rank(),
                    "u, ", sizes, ", ", parameter.is_external ? "NULL" : parameter.symbol, ", ",
                    type.nbytes(), "u,\n     \"", to_hex(parameter.constant->data.sha256()), "\", ",
                    parameter.pool == nullptr ? "NULL" : quoted(parameter.pool->name), ", ",
                    quoted(absl::StrJoin(parameter.targets, ",")), ", ",
                    levels_text(parameter.levels), ", ",
                    parameter.scales.has_value() ? absl::StrCat(*parameter.scales) : "-1", ", ",
                    parameter.axis, "},\n");
  }
  absl::StrAppend(text, "static const struct petrel_param_info ", name, "[] = {\n", rows, "};\n\n");
  return name;
}

// Takes the sizes of inputs in the order of the table. "NULL" when none varies, else its name.
std::string add_set_sizes(const Package& package, const CMethod& method, std::string* text) {
  const bool varies = std::any_of(method.inputs.begin(), method.inputs.end(),
                                  [](const CTensor& tensor) { return tensor.varies(); });
  if (!varies || !package.pools->has_packed) return "NULL";
  const std::string name = method.prefix + "_set_sizes_packed";
  const std::string null =
      absl::StrCat(" == NULL) {\n    return ", package.capitals, "_E_NULL;\n  }\n");
  absl::StrAppend(text, "static int32_t ", name,
                  "(void *context, const int32_t *const *sizes) {\n  struct ", method.prefix,
                  "_inputs given;\n  if (sizes", null);
  for (size_t i = 0; i < method.inputs.size(); ++i) {
    const CTensor& tensor = method.inputs[i];
    if (!tensor.varies()) continue;
    absl::StrAppend(text, "  if (sizes[", i, "]", null);
    for (size_t d = 0; d < tensor.type.rank(); ++d) {
      absl::StrAppend(text, "  given.", tensor.c_name, "_sizes[", d, "] = sizes[", i, "][", d,
                      "];\n");
    }
  }
  absl::StrAppend(text, "  return ", method.prefix, "_set_sizes((struct ", package.name,
                  "_context *)context, &given);\n}\n\n");
  return name;
}

// The packed convention: pointers in the order of the tables; all steps, and one.
std::string run_text(const Package& package, const CMethod& method) {
  const std::string null = absl::StrCat("    return ", package.capitals, "_E_NULL;\n");
  std::string text = absl::StrCat(
      "static int32_t ", method.prefix, "_unpack(void *context, const void *const *inputs,\n",
      "    void *const *outputs, struct ", method.prefix, "_inputs *given, struct ", method.prefix,
      "_outputs *wanted) {\n  (void)context;\n");
  const auto unpack = [&](const char* list, const char* structure, const char* qualifier,
                          const std::vector<CTensor>& tensors) {
    if (tensors.empty()) {
      absl::StrAppend(&text, "  (void)", list, ";\n  ", structure, "->none = 0;\n");
      return;
    }
    absl::StrAppend(&text, "  if (", list, " == NULL) {\n", null, "  }\n");
    for (size_t i = 0; i < tensors.size(); ++i) {
      absl::StrAppend(&text, "  ", structure, "->", tensors[i].c_name, " = (", qualifier,
                      c_type(tensors[i].type.dtype), " *)", list, "[", i, "];\n");
      if (!tensors[i].varies() || qualifier[0] == '\0') continue;
      absl::StrAppend(&text, "  if (context == NULL) {\n", null, "  }\n  ", method.prefix,
                      "_input_", tensors[i].c_name, "_sizes((const struct ", package.name,
                      "_context *)context, given->", tensors[i].c_name, "_sizes);\n");
    }
  };
  unpack("inputs", "given", "const ", method.inputs);
  unpack("outputs", "wanted", "", method.outputs);
  absl::StrAppend(&text, "  return ", package.capitals, "_OK;\n}\n\n");
  const auto entry = [&](const char* function, const char* parameter, const char* argument) {
    absl::StrAppend(&text, "static int32_t ", method.prefix, function,
                    "_packed(void *context, const void *const *inputs,\n    void *const *outputs",
                    parameter, ") {\n  struct ", method.prefix, "_inputs given;\n  struct ",
                    method.prefix, "_outputs wanted;\n  const int32_t status = ", method.prefix,
                    "_unpack(context, inputs, outputs, &given, &wanted);\n", return_errors(package),
                    "  return ", method.prefix, function, "((struct ", package.name,
                    "_context *)context, &given, &wanted", argument, ");\n}\n\n");
  };
  entry("_run", "", "");
  entry("_run_step", ", uint32_t *next", ", next");
  return text;
}

// The table of steps, which never is empty.
std::string add_steps(const CMethod& method, std::string* text) {
  const std::string name = method.prefix + "_step_infos";
  std::vector<std::string> rows;
  for (const auto& [step, kernel] : step_infos(method)) {
    rows.push_back(absl::StrCat("{", quoted(step), ", ", quoted(kernel), "}"));
  }
  absl::StrAppend(text, "static const struct petrel_step_info ", name, "[] = {\n    ",
                  absl::StrJoin(rows, ",\n    "), "};\n\n");
  return name;
}

std::string init_text(const Package& package) {
  const std::string& name = package.name;
  std::string text =
      absl::StrCat("static int32_t ", name, "_init_packed(void *context, void *const *pools, ",
                   "const size_t *pool_bytes) {\n  struct ", name, "_pools given;\n",
                   "  if (pools == NULL || pool_bytes == NULL) {\n    return ", package.capitals,
                   "_E_NULL;\n  }\n");
  for (size_t i = 0; i < package.memories.size(); ++i) {
    const CMemory& memory = package.memories[i];
    absl::StrAppend(&text, "  given.", memory.member, " = (", memory.type, " *)pools[", i,
                    "];\n  given.", memory.member, "_bytes = pool_bytes[", i, "];\n");
  }
  return absl::StrCat(text, "  return ", name, "_init((struct ", name,
                      "_context *)context, &given);\n}\n\nstatic int32_t ", name,
                      "_reset_packed(void *context) {\n  return ", name, "_reset_state((struct ",
                      name, "_context *)context);\n}\n\n");
}

// "kws_init_packed" of "kws" and "_init", "NULL" where there is no packed convention.
std::string packed(const Package& package, const std::string& name, const char* function) {
  return package.pools->has_packed ? absl::StrCat(name, function, "_packed") : "NULL";
}

// Names of functions.
std::string open_and_close(const Package& package) {
  if (package.delegates.empty()) return "NULL, NULL";
  return absl::StrCat(packed(package, package.name, "_open"), ", ",
                      packed(package, package.name, "_close"));
}

// What opens and closes devices, and the name of their table; "NULL" when there are none.
std::string add_devices(const Package& package, std::string* text) {
  if (package.delegates.empty()) return "NULL";
  const std::string& name = package.name;
  std::string rows, members;
  size_t count = 0;
  for (const std::string& device : devices_of(package)) {
    absl::StrAppend(&rows, "    {", quoted(device), "},\n");
    absl::StrAppend(&members, "  given.", device, " = devices[", count++, "];\n");
  }
  absl::StrAppend(text, "static const struct petrel_device_info ", name, "_device_infos[] = {\n",
                  rows, "};\n\n");
  if (!package.pools->has_packed) return name + "_device_infos";
  absl::StrAppend(text, "static int32_t ", name,
                  "_open_packed(void *context, void *const *devices) {\n  struct ", name,
                  "_devices given;\n  if (devices == NULL) {\n    return ", package.capitals,
                  "_E_NULL;\n  }\n", members, "  return ", name, "_open((struct ", name,
                  "_context *)context, &given);\n}\n\nstatic void ", name,
                  "_close_packed(void *context) {\n  ", name, "_close((struct ", name,
                  "_context *)context);\n}\n\n");
  return name + "_device_infos";
}

std::string pools_text(const Package& package) {
  std::string rows;
  for (const CMemory& memory : package.memories) {
    absl::StrAppend(&rows, "    {", quoted(memory.member), ", ", memory.bytes, "u, ",
                    memory.alignment, "u, ", is_kept(package, memory) ? "1u" : "0u", "},\n");
  }
  return absl::StrCat("static const struct petrel_pool_info ", package.name, "_pool_infos[] = {\n",
                      rows, "};\n\n");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> step_infos(const CMethod& method) {
  std::vector<std::pair<std::string, std::string>> infos = {{"inputs", ""}};
  for (const CStep& step : method.steps) {
    infos.emplace_back(step.jump.has_value() ? "branch" : step.function, step.kernel);
  }
  infos.emplace_back("outputs", "");
  return infos;
}

// Where no memory is for state alone, it lies among the others.
bool is_kept(const Package& package, const CMemory& memory) {
  return memory.keeps_state || memory.keeps_parameters ||
         (package.state_bytes == 0 && !package.states.empty());
}

int64_t constant_bytes(const Package& package) {
  int64_t bytes = 0;
  for (const CParameter& parameter : package.parameters) {
    if (!parameter.is_external) bytes += parameter.constant->type.nbytes();
  }
  return bytes;
}

int64_t io_bytes(const CMethod& method) {
  int64_t bytes = 0;
  for (const CTensor& tensor : method.inputs) bytes += tensor.type.nbytes();
  for (const CTensor& tensor : method.outputs) bytes += tensor.type.nbytes();
  return bytes;
}

std::string model_header_text() { return std::string(find_source("model/petrel_model.h")->text); }

std::string model_view_text() {
  return std::string(find_source("model/petrel_model_view.h")->text);
}

std::string metadata_text(const Package& package, const std::string& sha256) {
  const std::string& name = package.name;
  std::string text =
      absl::StrCat("/* Generated by petrel gen-c; do not edit. */\n#include \"", name,
                   ".h\"\n\n#include \"", name, "_params.h\"\n#include \"petrel_model.h\"\n\n");
  std::string methods;
  for (const CMethod& method : package.methods) {
    const std::string inputs = add_tensors(package, method, "input", method.inputs, &text);
    const std::string outputs = add_tensors(package, method, "output", method.outputs, &text);
    if (package.pools->has_packed) text += run_text(package, method);
    const std::string steps = add_steps(method, &text);
    const std::string set_sizes = add_set_sizes(package, method, &text);
    absl::StrAppend(&methods, "    {", quoted(method.name), ", ", inputs, ", ",
                    method.inputs.size(), "u, ", outputs, ", ", method.outputs.size(), "u, ",
                    method.arena_bytes, "u, ", io_bytes(method), "u, ", set_sizes, ", ",
                    packed(package, method.prefix, "_run"), ", ",
                    packed(package, method.prefix, "_run_step"), ",\n     ", steps, ", ",
                    method.steps.size() + 2, "u},\n");
  }
  if (package.pools->has_packed) text += init_text(package);
  text += pools_text(package);
  const std::string params = add_params(package, &text);
  const std::string devices = add_devices(package, &text);
  return absl::StrCat(text, "static const struct petrel_method_info ", name, "_methods[] = {\n",
                      methods, "};\n\nstatic const struct petrel_model_metadata ", name,
                      "_metadata = {\n    PETREL_MODEL_MAGIC, PETREL_MODEL_ABI_VERSION, ",
                      quoted(name), ",\n    \"", sha256, "\",\n    ", name, "_methods, ",
                      package.methods.size(), "u, ", name, "_pool_infos, ", package.memories.size(),
                      "u, ", constant_bytes(package), "u, sizeof(struct ", name, "_context),\n    ",
                      packed(package, name, "_init"), ", ", packed(package, name, "_reset"),
                      ",\n    ", params, ", ", package.parameters.size(), "u, ", devices, ", ",
                      devices_of(package).size(), "u, ", open_and_close(package),
                      "};\n\nconst struct petrel_model_metadata *", name,
                      "_get_model_metadata(void) { return &", name, "_metadata; }\n");
}

}  // namespace petrel::exir::emit_c
