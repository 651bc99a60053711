// SPDX-License-Identifier: Apache-2.0
//
// The `petrel` command: export, run and look into programs.
#include <cstdio>
#include <exception>

#include "extension/cli/diff_verb.h"
#include "extension/cli/new_app_verb.h"
#include "extension/cli/new_backend_verb.h"
#include "extension/cli/project_verb.h"
#include "extension/cli/quantize_verb.h"
#include "extension/cli/verb.h"
#include "extension/cli/version.h"

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
  add_opt_verb(app, &exit_code);
  add_data_verb(app, &exit_code);
  add_plan_verb(app, &exit_code);
  add_new_app_verb(app, &exit_code);
  add_new_backend_verb(app, &exit_code);
  add_completion_verb(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& wrong) {
    std::fprintf(stderr, "petrel: %s\nTry `petrel --help`.\n", wrong.what());
    return kWrongUsage;
  } catch (const std::exception& error) {
    // Only the standard library's own, such as running out of memory.
    std::fprintf(stderr, "petrel: %s\n", error.what());
    return kFailed;
  }
  return exit_code;
}
