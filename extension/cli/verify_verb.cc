// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "extension/cli/console.h"
#include "extension/cli/describe.h"
#include "extension/cli/limit_options.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

struct Arguments {
  std::vector<std::string> files;
  runtime::Limits limits;
};

// All files are checked, whatever the first ones are.
int run(const Arguments& arguments) {
  int code = kDone;
  Progress progress("verify");
  for (const std::string& file : arguments.files) {
    progress.start(file);
    const RuntimeMessages messages;
    const DescribeResult described = describe_file(file, arguments.limits, Detail::kOutline);
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
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "verify", "Check the whole structure of files, delegate payloads included");
  verb->add_option("files", arguments->files, "FILE...")->required();
  add_limit_options(*verb, LimitsOf::kLoading, &arguments->limits);
  verb->footer(
      "Examples:\n"
      "  petrel verify model.pte model.ptd");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
