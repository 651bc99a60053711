// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the `petrel` command. Each registers itself as a subcommand of
// `app`; when it is the one that was called, it runs while the command line is
// parsed and stores its exit code: 0 done, 1 failed, 2 wrong usage.
//
//   CLI::App app;
//   int exit_code = 0;
//   add_run_verb(app, &exit_code);
//   app.parse(argc, argv);
//   return exit_code;
#ifndef PETREL_EXTENSION_CLI_VERB_H_
#define PETREL_EXTENSION_CLI_VERB_H_

#include <CLI/CLI.hpp>

namespace petrel::extension {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

void add_export_verb(CLI::App& app, int* exit_code);
void add_gen_c_verb(CLI::App& app, int* exit_code);
void add_run_verb(CLI::App& app, int* exit_code);
void add_inspect_verb(CLI::App& app, int* exit_code);
void add_verify_verb(CLI::App& app, int* exit_code);
void add_bench_verb(CLI::App& app, int* exit_code);
void add_opt_verb(CLI::App& app, int* exit_code);
void add_data_verb(CLI::App& app, int* exit_code);
void add_plan_verb(CLI::App& app, int* exit_code);
void add_completion_verb(CLI::App& app, int* exit_code);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_VERB_H_
