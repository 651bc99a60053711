// SPDX-License-Identifier: Apache-2.0
//
// The `petrel` command: export, run and look into programs.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "extension/cli/diff_verb.h"
#include "extension/cli/new_app_verb.h"
#include "extension/cli/new_backend_verb.h"
#include "extension/cli/project_verb.h"
#include "extension/cli/quantize_verb.h"
#include "extension/cli/tune_verb.h"
#include "extension/cli/verb.h"
#include "extension/cli/version.h"
#include "extension/module/error_text.h"

namespace petrel::extension {
namespace {

// Which given options may have taken the words that are missing.
std::string greedy_options(const CLI::App& verb) {
  std::string text;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->count() < 1 || option->get_positional() || !option->get_allow_extra_args())
      continue;
    text += "; " + option->get_name() + " takes all words behind it, so put others in front";
  }
  return text;
}

// Says what is wrong with a command line. CLI11 asks for what is missing before it tells what it
// could not place, and tells that in the wrong order.
int wrong_usage(const CLI::App& app, const CLI::ParseError& wrong) {
  std::string verb;
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    verb += at->get_name() + ' ';
  }
  std::string what = wrong.what();
  const bool misses = wrong.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const bool has_more = wrong.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  const std::vector<std::string> unplaced = app.remaining(true);
  if (!unplaced.empty() && (misses || has_more)) {
    what = at->get_require_subcommand_min() > 0 ? "there is no verb" : "there is no place for";
    for (const std::string& word : unplaced) what += " '" + word + "'";
  } else if (misses) {
    what += greedy_options(*at);
  }
  std::fprintf(stderr, "petrel: %s\nTry `petrel %s--help`.\n", shown(what).c_str(), verb.c_str());
  return kWrongUsage;
}

// What was printed and is not there, because of a full disk for one, is no success.
int checked_output(int exit_code) {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return exit_code;
  std::fprintf(stderr, "petrel: cannot write the output%s%s\n", errno == 0 ? "" : ": ",
               errno == 0 ? "" : std::strerror(errno));
  return exit_code == kDone ? kFailed : exit_code;
}

}  // namespace
}  // namespace petrel::extension

int main(int argc, char** argv) {
  using namespace petrel::extension;  // NOLINT: the only content of this file
  CLI::App app{
      "Petrel turns PyTorch programs saved with torch.export.save (.pt2) into .pte\n"
      "programs and runs them.\n"
      "\n"
      "  petrel export model.pt2 -o model.pte\n"
      "  petrel run model.pte --input x.npy --output-dir out\n"
      "  petrel inspect model.pte\n"
      "\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage. `petrel VERB --help` explains a verb."};
  app.name("petrel");
  app.set_version_flag("--version", version_text,
                       "print the versions of the build and of file formats");
  app.require_subcommand(1);
  int exit_code = kDone;
  add_export_verb(app, &exit_code);
  add_gen_c_verb(app, &exit_code);
  add_project_verb(app, &exit_code);
  add_quantize_verb(app, &exit_code);
  add_run_verb(app, &exit_code);
  add_inspect_verb(app, &exit_code);
  add_verify_verb(app, &exit_code);
  add_diff_verb(app, &exit_code);
  add_bench_verb(app, &exit_code);
  add_tune_verb(app, &exit_code);
  add_opt_verb(app, &exit_code);
  add_data_verb(app, &exit_code);
  add_plan_verb(app, &exit_code);
  add_new_app_verb(app, &exit_code);
  add_new_backend_verb(app, &exit_code);
  add_completion_verb(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return checked_output(app.exit(help));
  } catch (const CLI::ParseError& wrong) {
    return wrong_usage(app, wrong);
  } catch (const std::exception& error) {
    // Only the standard library's own, such as running out of memory.
    std::fprintf(stderr, "petrel: %s\n", error.what());
    return kFailed;
  }
  return checked_output(exit_code);
}
