// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "extension/cli/console.h"
#include "extension/cli/describe.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

// All files are checked, whatever the first ones are.
int run(const std::vector<std::string>& files) {
  int code = kDone;
  Progress progress("verify");
  for (const std::string& file : files) {
    progress.start(file);
    const RuntimeMessages messages;
    const DescribeResult described = describe_file(file, Detail::kOutline);
    if (described.error != runtime::Error::Ok) {
      code = messages.fail("verify", file, described.error);
    } else if (!described.status.ok()) {
      code = fail("verify", described.status);
    } else {
      progress.start("");
      std::printf("%s: ok\n", file.c_str());
    }
  }
  return code;
}

}  // namespace

void add_verify_verb(CLI::App& app, int* exit_code) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = app.add_subcommand(
      "verify", "Check the whole structure of files, delegate payloads included");
  verb->add_option("files", *files, "FILE...")->required();
  verb->footer(
      "Examples:\n"
      "  petrel verify model.pte model.ptd");
  verb->callback([files, exit_code] { *exit_code = run(*files); });
}

}  // namespace petrel::extension
