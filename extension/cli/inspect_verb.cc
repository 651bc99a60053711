// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exir/output/output_files.h"
#include "exir/plan/pictures/html.h"
#include "exir/plan/pictures/svg.h"
#include "exir/status_macros.h"
#include "extension/cli/console.h"
#include "extension/cli/describe.h"
#include "extension/cli/limit_options.h"
#include "extension/cli/progress.h"
#include "extension/relink/file_kind.h"
#include "extension/cli/plan_of_method.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

struct Arguments {
  std::string file;
  bool json = false;
  std::string plan_svg;
  std::string plan_html;
  std::string method;
  runtime::Limits limits;
};

// The pictures of one method's memory plan.
int draw_plan(const Arguments& arguments, const RuntimeMessages& messages) {
  const absl::StatusOr<FileKind> kind = file_kind(arguments.file);
  if (!kind.ok()) return fail("inspect", kind.status());
  if (*kind != FileKind::kProgram) {
    return fail("inspect",
                absl::StrCat(arguments.file, ": has no memory plan, only a .pte file has"));
  }
  for (const std::string& output : {arguments.plan_svg, arguments.plan_html}) {
    const absl::Status is_other = output.empty()
                                      ? absl::OkStatus()
                                      : exir::check_is_not(output, "the program", arguments.file);
    if (!is_other.ok()) return fail("inspect", is_other);
  }
  const MethodPlan plan = read_method_plan(arguments.file, arguments.method, arguments.limits);
  if (plan.error != runtime::Error::Ok) {
    return messages.fail("inspect", arguments.file, plan.error);
  }
  if (!plan.status.ok()) return fail("inspect", plan.status);
  const std::string title = absl::StrCat(arguments.file, ", method ", plan.method);
  absl::Status written;
  if (!arguments.plan_svg.empty()) {
    exir::plan::SvgOptions options;
    options.title = title;
    written.Update(exir::write_output_file(
        arguments.plan_svg, exir::plan::render_svg(plan.problem, plan.solution, options)));
  }
  if (!arguments.plan_html.empty()) {
    written.Update(exir::write_output_file(
        arguments.plan_html, exir::plan::render_html(plan.problem, plan.solution, title)));
  }
  return written.ok() ? kDone : fail("inspect", written);
}

int run(const Arguments& arguments) {
  const RuntimeMessages messages;
  if (!arguments.plan_svg.empty() || !arguments.plan_html.empty()) {
    return draw_plan(arguments, messages);
  }
  Progress progress("inspect");
  progress.start("read");
  const DescribeResult described = describe_file(arguments.file, arguments.limits);
  progress.stop();
  if (described.error != runtime::Error::Ok) {
    return messages.fail("inspect", arguments.file, described.error);
  }
  if (!described.status.ok()) return fail("inspect", described.status);
  if (arguments.json) {
    std::printf("%s\n",
                described.json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                    .c_str());
  } else {
    print_text(described.json, std::cout);
  }
  return kDone;
}

}  // namespace

void add_inspect_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("inspect", "Show what is in a .pte, .ptd, .pt2 or compiled .so file");
  verb->add_option("file", arguments->file, "FILE")->required();
  verb->add_flag("--json", arguments->json, "everything as one JSON object");
  verb->add_option("--plan-svg", arguments->plan_svg,
                   "draw the memory plan of a .pte instead: time by address");
  verb->add_option("--plan-html", arguments->plan_html, "the same as a page to explore");
  verb->add_option("--method", arguments->method, "the method to draw; else the first");
  add_limit_options(*verb, LimitsOf::kLoading, &arguments->limits);
  verb->footer(
      "Examples:\n"
      "  petrel inspect model.pte\n"
      "  petrel inspect model.ptd --json\n"
      "  petrel inspect model.pte --plan-svg plan.svg");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
