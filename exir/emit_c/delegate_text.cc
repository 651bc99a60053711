// SPDX-License-Identifier: Apache-2.0
//
// What generated C has for partitions of backends: tables that their drivers read, drivers that
// say that a device is not there, and what opens and closes all of them.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "exir/emit_c/comment_text.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/returns.h"
#include "exir/emit_c/sources.h"
#include "exir/emit_c/text_files.h"

namespace petrel::exir::emit_c {
namespace {

constexpr char kHooks[] =
    R"(/* Of the application, which knows the caches. Before a device reads or writes these bytes: the
 * processor's cache gives them back to memory and keeps none of them. */
void @N@_on_flush(const void *data, size_t bytes);
/* A device has written these bytes, which the processor reads next: its cache must not have older
 * ones. */
void @N@_on_prefetch(void *data, size_t bytes);
)";

constexpr char kOpenDeclared[] =
    R"(/* Hands the devices to their drivers, after @N@_init() and before the first run. @C@_E_DEVICE,
 * or what else a driver returns, where one is not there; all that were opened are closed then. */
int32_t @N@_open(struct @N@_context *context, const struct @N@_devices *devices);
/* Before the memory of the context goes, or is given to @N@_init() again. */
void @N@_close(struct @N@_context *context);
)";

// Replaced by those of the application, which compilers without weak functions need to link.
constexpr char kAbsent[] = R"(/* Of the driver. */
int32_t @D@_init(const struct petrel_delegate *delegate, void *device, void *room, void **handle);
int32_t @D@_execute(void *handle, const void *const *inputs, void *const *outputs);
void @D@_destroy(void *handle);

#if defined(__GNUC__)
/* What the linker takes where there is no such driver. */
__attribute__((weak)) int32_t @D@_init(const struct petrel_delegate *delegate, void *device,
    void *room, void **handle) {
  (void)delegate;
  (void)device;
  (void)room;
  (void)handle;
  return @C@_E_DEVICE;
}

__attribute__((weak)) int32_t @D@_execute(void *handle, const void *const *inputs,
    void *const *outputs) {
  (void)handle;
  (void)inputs;
  (void)outputs;
  return @C@_E_DEVICE;
}

__attribute__((weak)) void @D@_destroy(void *handle) { (void)handle; }
#endif

)";

std::string filled(const Package& package, absl::string_view text, const std::string& driver = "") {
  return absl::StrReplaceAll(text,
                             {{"@N@", package.name}, {"@C@", package.capitals}, {"@D@", driver}});
}

// A table, or "NULL" where it has no rows; its definition goes to `text`.
std::string table(const std::string& type, const std::string& name,
                  const std::vector<std::string>& rows, std::string* text) {
  if (rows.empty()) return "NULL";
  absl::StrAppend(text, "static const ", type, " ", name, "[] = {\n    ",
                  absl::StrJoin(rows, ",\n    "), "};\n");
  return name;
}

std::vector<std::string> sizes_of(const std::vector<int64_t>& bytes) {
  std::vector<std::string> rows;
  for (const int64_t count : bytes) rows.push_back(absl::StrCat(count, "u"));
  return rows;
}

std::string symbol_row(const Package& package, size_t parameter) {
  const CParameter& row = package.parameters[parameter];
  return absl::StrCat(row.symbol, ", ", row.constant->type.nbytes(), "u");
}

std::string tables_text(const Package& package) {
  std::string text;
  std::vector<std::string> blobs, rows;
  for (const CBlob& blob : package.blobs) {
    blobs.push_back(
        absl::StrCat("{", quoted(blob.key), ", ", symbol_row(package, blob.parameter), "}"));
  }
  const std::string all = table("struct petrel_blob", package.name + "_blobs", blobs, &text);
  for (size_t i = 0; i < package.delegates.size(); ++i) {
    const CDelegateCall& call = package.delegates[i];
    const std::string name = absl::StrCat(package.name, "_delegate_", i);
    std::vector<std::string> options;
    for (const CompileSpec& spec : call.partition->compile_specs) {
      options.push_back(absl::StrCat("{", quoted(spec.key), ", ", quoted(spec.value), "}"));
    }
    const std::string specs =
        table("struct petrel_delegate_option", name + "_options", options, &text);
    const std::string in = table("size_t", name + "_inputs", sizes_of(call.input_bytes), &text);
    const std::string out = table("size_t", name + "_outputs", sizes_of(call.output_bytes), &text);
    rows.push_back(absl::StrCat("{", quoted(call.name), ", ", symbol_row(package, call.payload),
                                ",\n     ", all, ", ", blobs.size(), "u, ", specs, ", ",
                                options.size(), "u, ", in, ", ", call.input_bytes.size(), "u, ",
                                out, ", ", call.output_bytes.size(), "u, ",
                                room_words(call) * sizeof(uint64_t), "u}"));
  }
  table("struct petrel_delegate", package.name + "_delegates", rows, &text);
  return text + "\n";
}

std::string open_text(const Package& package) {
  const std::string& name = package.name;
  const std::string& big = package.capitals;
  std::string text = absl::StrCat(
      "int32_t ", name, "_open(struct ", name, "_context *context, const struct ", name,
      "_devices *devices) {\n  struct ", name, "_devices given;\n  int32_t status;\n",
      return_if(no_context(package) + " || devices == NULL", big + "_E_NULL"),
      "  given = *devices;\n  ", name, "_close(context);\n");
  for (size_t i = 0; i < package.delegates.size(); ++i) {
    const CDelegateCall& call = package.delegates[i];
    absl::StrAppend(&text, "  status = ", call.functions, "_init(&", name, "_delegates[", i,
                    "], given.", call.device, ", ",
                    room_words(call) == 0 ? "NULL" : absl::StrCat("context->room_", i),
                    ",\n      &context->delegate_", i, ");\n  if (status != ", big, "_OK) {\n    ",
                    name, "_close(context);\n    return status;\n  }\n",
                    "  context->open_delegates = ", i + 1, "u;\n");
  }
  absl::StrAppend(&text, "  return ", big, "_OK;\n}\n\nvoid ", name, "_close(struct ", name,
                  "_context *context) {\n  if (context == NULL) {\n    return;\n  }\n");
  for (size_t i = package.delegates.size(); i-- > 0;) {
    absl::StrAppend(&text, "  if (context->open_delegates > ", i, "u) {\n    ",
                    package.delegates[i].functions, "_destroy(context->delegate_", i,
                    ");\n    context->delegate_", i, " = NULL;\n  }\n");
  }
  return absl::StrCat(text, "  context->open_delegates = 0u;\n}\n\n");
}

}  // namespace

size_t room_words(const CDelegateCall& call) {
  return (static_cast<size_t>(call.code.room_bytes) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

std::set<std::string> devices_of(const Package& package) {
  std::set<std::string> devices;
  for (const CDelegateCall& call : package.delegates) devices.insert(call.device);
  return devices;
}

std::string delegate_header_text() {
  return std::string(find_source("model/petrel_delegate.h")->text);
}

std::string delegate_types_text(const Package& package) {
  if (package.delegates.empty()) return "";
  std::string text = absl::StrCat(
      "\n/* What the drivers of devices get: handles of the application, NULL for none. "
      "*/\nstruct ",
      package.name, "_devices {\n");
  for (const std::string& device : devices_of(package)) {
    absl::StrAppend(&text, "  void *", device, ";\n");
  }
  return text + "};\n";
}

std::string delegate_members_text(const Package& package) {
  if (package.delegates.empty()) return "";
  std::string text = "  uint32_t open_delegates;\n";
  for (size_t i = 0; i < package.delegates.size(); ++i) {
    const CDelegateCall& call = package.delegates[i];
    absl::StrAppend(&text, "  void *delegate_", i, "; /* ", comment_text(call.name), " */\n");
    if (room_words(call) > 0) {
      absl::StrAppend(&text, "  uint64_t room_", i, "[", room_words(call), "];\n");
    }
  }
  return text;
}

std::string delegate_functions_text(const Package& package) {
  if (package.delegates.empty()) return "";
  return absl::StrCat(filled(package, kOpenDeclared),
                      package.has_cached() ? filled(package, kHooks) : "");
}

std::string delegate_source_text(const Package& package) {
  if (package.delegates.empty()) return "";
  std::string text = tables_text(package);
  std::set<std::string> drivers;
  for (const CDelegateCall& call : package.delegates) {
    if (!call.code.source.empty()) {
      absl::StrAppend(&text, "/* Of backend '", comment_text(call.partition->backend_id), "' for ",
                      comment_text(call.name), ". */\n", call.code.source, "\n");
    } else if (drivers.insert(call.functions).second) {
      text += filled(package, kAbsent, call.functions);
    }
  }
  return text;
}

std::string delegate_open_text(const Package& package) {
  return package.delegates.empty() ? "" : open_text(package);
}

}  // namespace petrel::exir::emit_c
