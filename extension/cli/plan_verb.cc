// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/input/file_content.h"
#include "exir/output/output_files.h"
#include "exir/plan/external/external_planner.h"
#include "exir/plan/formats/csv.h"
#include "exir/plan/formats/json.h"
#include "exir/plan/formats/memory_pool.h"
#include "exir/plan/formats/problem_json.h"
#include "exir/plan/model/crowd.h"
#include "exir/plan/pictures/html.h"
#include "exir/plan/pictures/svg.h"
#include "exir/plan/search/planner.h"
#include "exir/plan/search/planner_registry.h"
#include "exir/status_macros.h"
#include "extension/cli/console.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/module/error_text.h"

namespace petrel::extension {
namespace {

namespace plan = exir::plan;

// Steps of search where no time is given: seconds, and the same answer on
// every machine.
constexpr int64_t kNodesForPeak = 2'000'000;
constexpr int64_t kNodesForCapacity = 10'000'000;
constexpr int64_t kNodesAfterFit = 50'000;

struct Arguments {
  std::string file;
  std::string capacity;
  std::vector<std::string> pools;
  int64_t budget_ms = 0;
  std::string planner = "search";
  std::string planner_command;
  int64_t planner_timeout_ms = 60'000;
  std::string svg;
  std::string html;
  std::string csv;
  bool json = false;
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "petrel plan: %s\nTry `petrel plan --help`.\n", problem.c_str());
  return kWrongUsage;
}

// The most of a plan that is read.
constexpr uint64_t kMaxPlanBytes = uint64_t{1} << 30;

// JSON when it begins with a brace, which no CSV header does.
absl::StatusOr<plan::Problem> read_problem(const std::string& path) {
  const bool is_input = path == "-";
  PETREL_ASSIGN_OR_RETURN(const std::string text,
                          is_input ? exir::read_open_file(STDIN_FILENO, kMaxPlanBytes)
                                   : exir::read_file_content(path, kMaxPlanBytes));
  if (text.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        "is not text: the buffers of a problem are needed, as CSV or JSON; of a program, "
        "`petrel inspect --plan-svg` draws them");
  }
  const absl::string_view content = absl::StripLeadingAsciiWhitespace(text);
  if (!content.empty() && content[0] == '{') return plan::parse_problem_json(text);
  return plan::parse_csv(text);
}

// What may lie in a memory begins where that aligns.
absl::Status align_buffers(plan::PoolIdx pool, int64_t alignment, plan::Problem* problem) {
  constexpr int64_t kMost = int64_t{1} << 30;  // of a file; the product has room
  for (plan::Buffer& buffer : problem->buffers) {
    const bool may = buffer.pools.empty() || absl::c_linear_search(buffer.pools, pool);
    if (!may || alignment == 1) continue;
    if (buffer.alignment > kMost) {
      return absl::InvalidArgumentError(
          absl::StrCat("buffer ", plan::label(buffer), " has alignment ", buffer.alignment,
                       ", must have at most ", kMost, " in a pool with align="));
    }
    buffer.alignment = std::lcm(buffer.alignment, alignment);
  }
  return absl::OkStatus();
}

// Memories given on the command line: pools that the file names, or in place of its one
// pool when it names none of them.
absl::Status set_pools(const Arguments& arguments, plan::Problem* problem) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<plan::MemoryPool> given,
                          plan::parse_memory_pools(arguments.pools));
  std::vector<plan::Pool>& pools = problem->pools;
  const auto find = [&](const plan::MemoryPool& memory) {
    return std::find_if(pools.begin(), pools.end(),
                        [&](const plan::Pool& pool) { return pool.name == memory.name; });
  };
  const bool fresh =
      pools.size() == 1 && !given.empty() &&
      absl::c_none_of(given, [&](const auto& one) { return find(one) != pools.end(); });
  if (fresh) {
    pools.clear();
    for (plan::Buffer& buffer : problem->buffers) buffer.pools.clear();
  }
  for (const plan::MemoryPool& memory : given) {
    auto pool = find(memory);
    if (pool == pools.end()) {
      pool = pools.insert(pool, plan::to_pool(memory));
    } else {
      pool->capacity = memory.capacity();
      if (memory.prefer.has_value()) pool->preferred_capacity = memory.prefer;
    }
    PETREL_RETURN_IF_ERROR(
        align_buffers(static_cast<plan::PoolIdx>(pool - pools.begin()), memory.alignment, problem));
  }
  return absl::OkStatus();
}

void print_text(const plan::Problem& problem, const plan::Solution& solution) {
  std::printf("peak         %lld bytes\n", static_cast<long long>(solution.peak));
  std::printf("lower bound  %lld bytes\n", static_cast<long long>(solution.lower_bound));
  const double gap = solution.lower_bound == 0
                         ? 0
                         : 100.0 * static_cast<double>(solution.peak - solution.lower_bound) /
                               static_cast<double>(solution.lower_bound);
  std::printf("gap          %.2f %%, %s\n", gap,
              solution.optimal ? "proven optimal" : "not proven optimal");
  std::printf("found by     %s in %s\n", solution.method.c_str(),
              format_seconds(solution.seconds).c_str());
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    const plan::Pool& pool = problem.pools[p];
    std::printf("pool         %s: %lld bytes", printable(pool.name).c_str(),
                static_cast<long long>(solution.pools[p].peak));
    if (pool.capacity) std::printf(" of %lld", static_cast<long long>(*pool.capacity));
    std::printf(", lower bound %lld\n", static_cast<long long>(solution.pools[p].lower_bound));
  }
  std::printf("fullest      %s\n",
              printable(plan::describe(problem, plan::largest_crowd(problem), 5)).c_str());
}

// With --json a program reads why, too.
int fail_with(const Arguments& arguments, const absl::Status& status) {
  const std::string message = absl::StrCat(arguments.file, ": ", status.message());
  if (arguments.json) {
    const bool proven = status.code() == absl::StatusCode::kFailedPrecondition;
    nlohmann::ordered_json json = {{"error", message}};
    if (proven || status.code() == absl::StatusCode::kResourceExhausted) json["proven"] = proven;
    std::printf(
        "%s\n",
        json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  }
  return fail("plan", message);
}

int run(const Arguments& arguments) {
  const std::optional<int64_t> capacity = plan::parse_bytes(arguments.capacity);
  if (!arguments.capacity.empty() && !capacity.has_value()) {
    return usage(absl::StrCat("--capacity is '", arguments.capacity,
                              "', must be a number of bytes (64K, 1M)"));
  }
  if (capacity.has_value() && !arguments.pools.empty()) {
    return usage("--capacity is for one pool: give --pool its size");
  }
  for (const std::string& output : {arguments.svg, arguments.html, arguments.csv}) {
    if (output.empty() || arguments.file == "-") continue;
    const absl::Status is_other = exir::check_is_not(output, "the problem", arguments.file);
    if (!is_other.ok()) return usage(std::string(is_other.message()));
  }
  plan::Options options;
  if (!arguments.planner_command.empty()) {
    options.planner =
        plan::external_planner(arguments.planner_command, arguments.planner_timeout_ms);
    options.planner_name = arguments.planner_command;
  } else if (const absl::Status status =
                 plan::PlannerRegistry::built_in().choose(arguments.planner, &options);
             !status.ok()) {
    return usage(std::string(status.message()));
  }
  absl::StatusOr<plan::Problem> problem = read_problem(arguments.file);
  if (!problem.ok()) return fail_with(arguments, problem.status());
  const absl::Status pools = set_pools(arguments, &*problem);
  if (!pools.ok()) return usage(std::string(pools.message()));
  if (capacity.has_value()) {
    if (problem->pools.size() != 1) {
      return usage(absl::StrCat("--capacity is for one pool, the problem has ",
                                problem->pools.size(), ": give them sizes with --pool"));
    }
    problem->pools[0].capacity = capacity;
  }
  if (!arguments.csv.empty() && problem->pools.size() != 1) {
    return usage(absl::StrCat("--csv has no column for pools, and the problem has ",
                              problem->pools.size(), ": use --json"));
  }
  const bool fit = problem->pools.size() == 1 && problem->pools[0].capacity.has_value();
  options.budget_ms = arguments.budget_ms;
  options.goal = fit ? plan::Goal::kFitCapacity : plan::Goal::kSmallestPeak;
  if (arguments.budget_ms > 0) {
    options.node_budget = options.nodes_after_fit = std::numeric_limits<int64_t>::max() / 4;
  } else {
    options.node_budget = fit ? kNodesForCapacity : kNodesForPeak;
    options.nodes_after_fit = kNodesAfterFit;
  }
  Progress progress("plan");
  progress.start("search");
  const absl::StatusOr<plan::Solution> solution = plan::plan(*problem, options);
  progress.stop();
  if (!solution.ok()) return fail_with(arguments, solution.status());

  absl::Status written;
  if (!arguments.svg.empty()) {
    plan::SvgOptions svg;
    svg.title = arguments.file;
    written.Update(
        exir::write_output_file(arguments.svg, plan::render_svg(*problem, *solution, svg)));
  }
  if (!arguments.html.empty()) {
    written.Update(exir::write_output_file(arguments.html,
                                           plan::render_html(*problem, *solution, arguments.file)));
  }
  if (!arguments.csv.empty()) {
    written.Update(exir::write_output_file(arguments.csv, plan::format_csv(*problem, *solution)));
  }
  if (!written.ok()) return fail("plan", written);
  if (arguments.json) {
    std::printf("%s", plan::format_json(*problem, *solution).c_str());
  } else {
    print_text(*problem, *solution);
  }
  return kDone;
}

}  // namespace

void add_plan_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "plan", "Plan memory for buffers with lifetimes, and prove how good the plan is");
  verb->add_option("file", arguments->file,
                   "FILE.csv (id,lower,upper,size,...) or .json, or - for standard input")
      ->required();
  verb->add_option("--capacity", arguments->capacity,
                   "bytes that the plan must not exceed; 64K and 1M are 1024s");
  verb->add_option(
          "--pool", arguments->pools,
          "NAME=BYTES, NAME=unlimited or name=NAME,KEY=VALUE..., once per memory, preferred "
          "ones first; keys: size, limit, prefer (a limit that necessity may exceed), align, "
          "kind, section, address, targets")
      ->take_all();
  verb->add_option("--budget-ms", arguments->budget_ms,
                   "search for this long; by default, for a fixed number of steps")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--planner", arguments->planner,
                   "search (default), orderings (no search) or unshared (no reuse)");
  verb->add_option("--planner-command", arguments->planner_command,
                   "a command that reads the problem and writes a plan, as JSON");
  verb->add_option("--planner-timeout-ms", arguments->planner_timeout_ms,
                   "for --planner-command; 60000 if not given")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--svg", arguments->svg, "draw the plan: time by address");
  verb->add_option("--html", arguments->html, "a page to explore the plan");
  verb->add_option("--csv", arguments->csv, "the problem with a column of offsets");
  verb->add_flag("--json", arguments->json, "the plan as JSON");
  verb->footer(
      "Exit code 1 when the capacity cannot be met; the message says whether that is proven.\n"
      "Examples:\n"
      "  petrel plan buffers.csv\n"
      "  petrel plan buffers.csv --capacity 1M --budget-ms 1000 --json\n"
      "  petrel plan buffers.csv --pool sram=64K --pool dram=unlimited --svg plan.svg");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
