// SPDX-License-Identifier: Apache-2.0
#include "extension/project/project_texts.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace petrel::extension {
namespace {

using exir::Board;
using exir::BoardMemory;

constexpr char kApp[] = R"(/* Written by petrel project create.
 *
 * The model of this project and its memory. */
#include "firmware.h"
#include "@NAME@.h"

int32_t @NAME@_selftest(struct @NAME@_context *context);
const struct petrel_model_metadata *@NAME@_get_model_metadata(void);
@DECLARATIONS@
#define ALIGNED(bytes) __attribute__((aligned(bytes)))

static struct @NAME@_context context;
@ARRAYS@static void *pools[@COUNT@];
static size_t pool_bytes[@COUNT@];
static struct petrel_app app;

static int32_t selftest(void *of) { return @NAME@_selftest(of); }

const struct petrel_app *petrel_app(void) {
@FILL@  app.model = @NAME@_get_model_metadata();
  app.context = &context;
  app.pools = pools;
  app.pool_bytes = pool_bytes;
  app.selftest = selftest;
@REST@  return &app;
}

const struct petrel_plan *petrel_app_plan(void) { return @PLAN@; }
)";

constexpr char kMake[] =
    R"(# Written by petrel project create for board '@BOARD@'. `make` builds build/@MAIN@.elf, and
# with DRIVER=host_driven the program that the host drives.
PREFIX = @PREFIX@
CC = $(PREFIX)gcc
TARGET =@TARGET@
OPTIMIZE = -O2 -ffunction-sections -fdata-sections
DRIVER = @MAIN@
DEFINES =@DEFINES@
# Bits are those of the reference kernels only when nothing is contracted.
FLAGS = $(TARGET) -std=c99 -ffp-contract=off -Wall $(OPTIMIZE) -Imodel -Ifirmware $(DEFINES)
LINK = $(TARGET)@LINK@ -Wl,--gc-sections
SOURCES =@SOURCES@
host_driven_SOURCES =@HOST_DRIVEN@
OBJECTS = $(patsubst %,build/%.o,$(SOURCES) firmware/$(DRIVER).c $($(DRIVER)_SOURCES))

build/$(DRIVER).elf: $(OBJECTS)@LINKED@
	$(CC) $(LINK) $(OBJECTS) -lm -Wl,-Map,build/$(DRIVER).map -o $@

build/%.c.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -MMD -c $< -o $@

build/%.S.o: %.S Makefile
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -MMD -c $< -o $@

-include $(OBJECTS:.o=.d)
)";

constexpr char kCmake[] =
    R"(# Written by petrel project create for board '@BOARD@'. The toolchain file says which compiler:
#   cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE=... && cmake --build build
cmake_minimum_required(VERSION 3.13)
project(@NAME@_firmware LANGUAGES C@LANGUAGES@)
set(DRIVER @MAIN@ CACHE STRING "standalone, or host_driven for what the host drives")
add_executable(firmware@SOURCES@
  "firmware/${DRIVER}.c")
if(DRIVER STREQUAL "host_driven")
  target_sources(firmware PRIVATE@HOST_DRIVEN@)
endif()
set_target_properties(firmware PROPERTIES OUTPUT_NAME "${DRIVER}" SUFFIX ".elf"
  C_STANDARD 99 C_EXTENSIONS ON)
target_include_directories(firmware PRIVATE model firmware)
target_compile_definitions(firmware PRIVATE@DEFINES@)
# Bits are those of the reference kernels only when nothing is contracted.
target_compile_options(firmware PRIVATE -ffp-contract=off)
target_compile_options(firmware PRIVATE "$<$<CONFIG:>:-O2>")
target_link_libraries(firmware PRIVATE m)
)";

constexpr char kMain[] = "standalone";

bool is_main(absl::string_view name) {
  return name == "standalone.c" || name == "host_driven.c" || name == "calibrate.c" ||
         name == "profile.c";
}

bool is_source(absl::string_view name) {
  return absl::EndsWith(name, ".c") || absl::EndsWith(name, ".S");
}

// Of the project, below its folder. `of_rpc`: what only the program that the host drives needs.
std::vector<std::string> sources_of(const ModelPackage& package,
                                    const std::vector<FirmwareFile>& firmware, bool of_rpc) {
  std::vector<std::string> paths;
  for (const FirmwareFile& file : firmware) {
    if (!is_source(file.name()) || is_main(file.name())) continue;
    if ((file.folder() == "device") == of_rpc)
      paths.push_back(absl::StrCat("firmware/", file.name()));
  }
  if (of_rpc) return paths;
  paths.emplace_back("firmware/model.c");
  for (const std::string& source : package.sources) paths.push_back("model/" + source);
  paths.push_back(absl::StrCat("model/", package.name, "_selftest.c"));
  if (package.has_plan) paths.push_back(absl::StrCat("model/", package.name, "_plan.c"));
  return paths;
}

struct Define {
  std::string name, value;  // the value may be empty
};

std::vector<Define> defines_of(const Board& board, const ModelPackage& package) {
  size_t tensors = 1, rank = 1;
  bool varies = false;
  for (const PackageMethod& method : package.methods) {
    tensors = std::max({tensors, method.inputs.size(), method.outputs.size()});
    for (const auto* list : {&method.inputs, &method.outputs}) {
      for (const PackageTensor& tensor : *list) {
        rank = std::max(rank, tensor.sizes.size());
        varies = varies || tensor.varies;
      }
    }
  }
  std::vector<Define> defines = {
      {"PETREL_BOARD_NAME", absl::StrCat("\"", board.name, "\"")},
      {"PETREL_TIMER_HZ", absl::StrCat(std::min<int64_t>(board.timer.hz, UINT32_MAX), "u")},
      {"PETREL_APP_MAX_TENSORS", absl::StrCat(tensors)},
      {"PETREL_APP_MAX_RANK", absl::StrCat(rank)},
      {"PETREL_BUILD_ID", absl::StrCat("0x", package.sha256.substr(0, 8), "u")}};
  if (varies) defines.push_back({"PETREL_APP_VARIES", ""});
  if (!board.emulator.program.empty()) defines.push_back({"PETREL_SEMIHOSTING", ""});
  return defines;
}

std::string joined(const std::vector<std::string>& words, absl::string_view before) {
  std::string text;
  for (const std::string& word : words) absl::StrAppend(&text, before, word);
  return text;
}

const BoardMemory& first_of(const Board& board, exir::plan::PoolKind kind) {
  return *std::find_if(board.memories.begin(), board.memories.end(),
                       [&](const BoardMemory& memory) { return memory.kind == kind; });
}

// "  .bss.sram (NOLOAD) : { *(.bss.sram) } > sram": the memories beside the first of each kind.
std::string more_sections(const Board& board) {
  std::string text;
  for (const BoardMemory& memory : board.memories) {
    if (memory.section.empty()) continue;
    const bool is_written = memory.kind == exir::plan::PoolKind::kReadWrite;
    absl::StrAppend(&text, "  ", memory.section, is_written ? " (NOLOAD)" : "", " : { *(",
                    memory.section, " ", memory.section, ".*) } > ", memory.name, "\n");
  }
  return text.empty() ? "" : absl::StrCat("SECTIONS {\n", text, "}\n");
}

}  // namespace

std::string app_text(const ModelPackage& package) {
  std::string arrays, fill, rest, declarations;
  if (package.has_pools) {
    absl::StrAppend(&fill, "  const struct ", package.name, "_pools memory = ", package.name,
                    "_static_pools();\n");
  }
  for (size_t i = 0; i < package.memories.size(); ++i) {
    const PackageMemory& memory = package.memories[i];
    if (memory.bytes > 0 && memory.is_pool) {
      absl::StrAppend(&fill, "  pools[", i, "] = memory.", memory.name, ";\n  pool_bytes[", i,
                      "] = memory.", memory.name, "_bytes;\n");
    } else if (memory.bytes > 0) {
      absl::StrAppend(&arrays, "static unsigned char memory_", memory.name, "[", memory.bytes,
                      "] ALIGNED(", memory.align, ");\n");
      absl::StrAppend(&fill, "  pools[", i, "] = memory_", memory.name, ";\n  pool_bytes[", i,
                      "] = sizeof memory_", memory.name, ";\n");
    }
  }
  if (package.caller_io) {
    absl::StrAppend(&arrays, "static unsigned char io[", package.io_bytes(), "] ALIGNED(16);\n");
    rest += "  app.io = io;\n  app.io_bytes = sizeof io;\n";
  }
  if (package.has_plan) {
    absl::StrAppend(&declarations, "const struct petrel_plan *", package.name,
                    "_get_plan(void);\n");
  }
  const std::string plan = package.has_plan ? package.name + "_get_plan()" : "NULL";
  const std::string count = absl::StrCat(std::max<size_t>(package.memories.size(), 1));
  return absl::StrReplaceAll(kApp, {{"@NAME@", package.name},
                                    {"@ARRAYS@", arrays},
                                    {"@COUNT@", count},
                                    {"@FILL@", fill},
                                    {"@REST@", rest},
                                    {"@PLAN@", plan},
                                    {"@DECLARATIONS@", declarations}});
}

std::string linker_text(const Board& board) {
  std::string text = "/* Written by petrel project create. */\nMEMORY {\n";
  for (const BoardMemory& memory : board.memories) {
    const bool is_written = memory.kind == exir::plan::PoolKind::kReadWrite;
    absl::StrAppend(&text, "  ", memory.name, is_written ? " (rw)" : " (rx)", " : ORIGIN = 0x",
                    absl::Hex(memory.address), ", LENGTH = ", memory.size, "\n");
  }
  const BoardMemory& data = first_of(board, exir::plan::PoolKind::kReadWrite);
  absl::StrAppend(
      &text, "}\nREGION_ALIAS(\"CODE\", ", first_of(board, exir::plan::PoolKind::kReadOnly).name,
      ")\nREGION_ALIAS(\"DATA\", ", data.name,
      ")\n/* At least; what is left of DATA is the stack. */\npetrel_stack_bytes = ", data.reserved,
      ";\n", more_sections(board), "INCLUDE sections.ld\n");
  return text;
}

std::string make_text(const Board& board, const ModelPackage& package,
                      const std::vector<FirmwareFile>& firmware) {
  const bool is_bare = !board.memories.empty();
  std::vector<std::string> defines;
  for (const Define& define : defines_of(board, package)) {
    defines.push_back(define.value.empty()
                          ? absl::StrCat("-D", define.name)
                          : absl::StrCat("-D", define.name, "='", define.value, "'"));
  }
  return absl::StrReplaceAll(
      kMake, {{"@BOARD@", board.name},
              {"@MAIN@", kMain},
              {"@PREFIX@", board.toolchain.prefix},
              {"@TARGET@", joined(board.toolchain.flags, " ")},
              {"@DEFINES@", joined(defines, " \\\n  ")},
              {"@LINK@", is_bare ? " -nostartfiles -Lfirmware -T board.ld" : ""},
              {"@LINKED@", is_bare ? " board.ld" : ""},
              {"@SOURCES@", joined(sources_of(package, firmware, false), " \\\n  ")},
              {"@HOST_DRIVEN@", joined(sources_of(package, firmware, true), " \\\n  ")}});
}

std::string cmake_text(const Board& board, const ModelPackage& package,
                       const std::vector<FirmwareFile>& firmware) {
  std::vector<std::string> defines;
  for (const Define& define : defines_of(board, package)) {
    const std::string value = absl::StrReplaceAll(define.value, {{"\"", "\\\""}});
    defines.push_back(
        absl::StrCat("\"", define.name, define.value.empty() ? "" : "=", value, "\""));
  }
  const auto quoted = [](std::vector<std::string> paths) {
    for (std::string& path : paths) path = absl::StrCat("\"", path, "\"");
    return joined(paths, "\n  ");
  };
  const std::vector<std::string> sources = sources_of(package, firmware, false);
  const bool has_assembly =
      std::any_of(sources.begin(), sources.end(),
                  [](const std::string& path) { return absl::EndsWith(path, ".S"); });
  return absl::StrReplaceAll(kCmake,
                             {{"@BOARD@", board.name},
                              {"@NAME@", package.name},
                              {"@MAIN@", kMain},
                              {"@LANGUAGES@", has_assembly ? " ASM" : ""},
                              {"@SOURCES@", quoted(sources)},
                              {"@HOST_DRIVEN@", quoted(sources_of(package, firmware, true))},
                              {"@DEFINES@", joined(defines, "\n  ")}});
}

}  // namespace petrel::extension
