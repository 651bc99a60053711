// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/isa_option.h"

#include <cstdio>
#include <string>

#include "extension/cli/console.h"
#include "runtime/platform/isa_level.h"

namespace petrel::extension {
namespace {

void print_levels() {
  for (const runtime::IsaLevel& level : runtime::isa_levels()) {
    if (is_available(level)) std::printf("%s\n", level.name);
  }
}

}  // namespace

void add_isa_option(CLI::App& verb) {
  verb.add_option_function<std::string>(
          "--isa",
          [](const std::string& level) {
            if (level == "list") {
              print_levels();
              throw CLI::Success();
            }
            const RuntimeMessages messages;
            if (runtime::set_isa_level(level) != runtime::Error::Ok) {
              throw CLI::ValidationError("--isa", messages.text());
            }
          },
          "use the processor up to LEVEL only, such as avx2, or like a processor, such\n"
          "as zen; list: prints the levels of this machine; native (default): all it has")
      ->type_name("LEVEL");
}

}  // namespace petrel::extension
