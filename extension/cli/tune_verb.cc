// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/tune_verb.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/xnnpack/runtime/start.h"
#include "backends/xnnpack/runtime/tile_table.h"
#include "exir/output/output_files.h"
#include "extension/cli/console.h"
#include "extension/cli/isa_option.h"
#include "extension/cli/verb.h"
#include "extension/export/quantity.h"
#include "extension/module/error_text.h"
#include "runtime/core/error.h"
#include "third_party/xnnpack/tile_choice/trial.h"

namespace petrel::extension {
namespace {

namespace xnnpack = backends::xnnpack;
namespace tiles = third_party::xnnpack;

constexpr char kVerb[] = "tune";

struct Arguments {
  std::string output;
  uint64_t milliseconds = 500;
};

// A number, marked where it is the largest; a tile that was left out has none.
std::string marked(double number, double largest) {
  if (number == 0) return absl::StrFormat("%7s ", "-");
  return absl::StrFormat("%7.1f%c", number, number == largest ? '*' : ' ');
}

void print_line(std::string line) {
  std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
}

// Of a tile: by class of shapes, and the means.
std::vector<double> numbers_of(const tiles::TileFigures& figures) {
  std::vector<double> numbers(figures.rates.begin(), figures.rates.end());
  numbers.push_back(figures.near);
  numbers.push_back(figures.far);
  return numbers;
}

void print_figures(const tiles::Trial& trial) {
  std::printf(
      "Multiply-adds in a nanosecond: of ROWSxCOLUMNS and of windows of 3x3, near the processor,\n"
      "and of rows whose weights are far away; means of both. * the most\n");
  std::string head = absl::StrFormat("%-14s", "tile");
  for (const tiles::ShapeClass& one : tiles::kTrialClasses) {
    absl::StrAppend(&head, absl::StrFormat("%7s ", one.name));
  }
  print_line(absl::StrCat(head, absl::StrFormat("%7s %7s", "near", "far")));
  std::vector<double> most(tiles::kShapeClasses + 2, 0);
  for (const tiles::TileFigures& figures : trial.figures) {
    const std::vector<double> numbers = numbers_of(figures);
    for (size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], numbers[i]);
  }
  for (const tiles::TileFigures& figures : trial.figures) {
    const std::vector<double> numbers = numbers_of(figures);
    std::string line = absl::StrFormat("%-14s", figures.tile->name);
    for (size_t i = 0; i < most.size(); ++i) absl::StrAppend(&line, marked(numbers[i], most[i]));
    print_line(line);
  }
}

void print_machine(const xnnpack::TileMachine& machine) {
  std::printf("processor    %s, family %u, model %u\n", shown(machine.vendor).c_str(),
              static_cast<unsigned>(machine.family), static_cast<unsigned>(machine.model));
  std::printf("caches       L1 %s, L2 %s, L3 %s\n", format_bytes(machine.l1d).c_str(),
              format_bytes(machine.l2).c_str(), format_bytes(machine.l3).c_str());
  std::printf("level        %s\n", machine.level.c_str());
}

int run(const Arguments& arguments) {
  const RuntimeMessages messages(kVerb);
  if (xnnpack::start_xnnpack() != xnn_status_success) {
    return messages.fail(kVerb, "XNNPACK", runtime::Error::NotSupported);
  }
  const std::vector<const petrel_tile*> possible = tiles::possible_tiles();
  if (possible.empty()) {
    std::printf("there is one tile for this processor: nothing is measured or written\n");
    return kDone;
  }
  const xnnpack::TileMachine machine = xnnpack::this_machine();
  const tiles::Trial trial = tiles::try_tiles(
      possible, petrel_usual_tile(), arguments.milliseconds * 1'000'000, tiles::trial_clock);
  print_figures(trial);
  print_machine(machine);
  std::printf("tile         %s%s\n", trial.best->name,
              trial.best == petrel_usual_tile() ? ", as by the rule" : "");
  if (arguments.output.empty()) return kDone;
  const absl::Status written =
      exir::write_output_file(arguments.output, xnnpack::format_tile_table(machine, trial));
  return written.ok() ? kDone : fail(kVerb, written);
}

}  // namespace

void add_tune_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "tune", "Measure in which tile XNNPACK computes fastest on this processor");
  verb->add_option("-o,--output", arguments->output,
                   "FILE: the table of what was measured, for --tiles of run and bench");
  verb->add_option("--milliseconds", arguments->milliseconds, "measure for so long (default: 500)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{60'000}));
  add_isa_option(*verb);
  verb->footer(
      "Programs compute the same bits in every tile. A table counts on processors of the same\n"
      "family, model and caches and at the same --isa level; elsewhere the rule is used.\n"
      "Examples:\n"
      "  petrel tune\n"
      "  petrel tune -o epyc.tiles && petrel run model.pte --tiles epyc.tiles\n"
      "  petrel tune --isa avx2 --milliseconds 2000 -o avx2.tiles");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
