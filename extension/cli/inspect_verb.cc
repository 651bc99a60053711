// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>

#include "extension/cli/console.h"
#include "extension/cli/describe.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

struct Arguments {
  std::string file;
  bool json = false;
};

int run(const Arguments& arguments) {
  const RuntimeMessages messages;
  const DescribeResult described = describe_file(arguments.file);
  if (described.error != runtime::Error::Ok) {
    return messages.fail("inspect", arguments.file, described.error);
  }
  if (!described.status.ok()) return fail("inspect", described.status);
  if (arguments.json) {
    std::printf("%s\n", described.json
                            .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                            .c_str());
  } else {
    std::printf("%s", render_text(described.json).c_str());
  }
  return kDone;
}

}  // namespace

void add_inspect_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("inspect", "Show what is in a .pte, .ptd or .pt2 file");
  verb->add_option("file", arguments->file, "FILE")->required();
  verb->add_flag("--json", arguments->json, "everything as one JSON object");
  verb->footer(
      "Examples:\n"
      "  petrel inspect model.pte\n"
      "  petrel inspect model.ptd --json");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
