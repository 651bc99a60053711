// SPDX-License-Identifier: Apache-2.0
//
// Measures the planner on many problems and prints what came out. Every plan
// is validated; a single invalid one makes the exit code 1.
//
//   sweep files [--capacity N] FILE.csv...   each as it is, mirrored in time,
//                                            shuffled and scaled
//   sweep cuts  [--count N]                  rectangles cut into 154 to 454
//                                            buffers, to be put back together
//   sweep pools [--count N]                  random problems, one to four pools
//
// Options: --nodes N (effort per problem), --gaps FILE.svg (how far plans are
// from their bounds, as a picture), --grain N (cuts at multiples of N),
// --goal peak (cuts: search for the smallest peak, whose size is not told),
// --first N (of the problems generated), --within MS (exit code 1 if one is not
// solved or takes longer, in time of the processor).

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "exir/plan/model/reversal.h"
#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/formats/csv.h"
#include "exir/plan/search/planner.h"

namespace petrel::exir::plan {
namespace {

struct Arguments {
  std::string what;
  std::vector<std::string> files;
  int64_t count = 100;
  int64_t capacity = 0;
  int64_t nodes = 2'000'000;
  int64_t grain = 1;
  int64_t first = 0;
  int64_t within_ms = 0;
  bool smallest = false;
  std::string gaps;
};

class Tally {
 public:
  void add(const std::string& name, const Problem& problem, const Options& options, bool print) {
    ++count_;
    const std::clock_t begin = std::clock();
    absl::StatusOr<Solution> solution = plan(problem, options);
    const double cpu =
        static_cast<double>(std::clock() - begin) / static_cast<double>(CLOCKS_PER_SEC);
    if (cpu > slowest_) slowest_name_ = name;
    slowest_ = std::max(slowest_, cpu);
    seconds_ += cpu;
    slow_ += cpu >= 1;
    if (!solution.ok()) {
      const absl::StatusCode code = solution.status().code();
      if (code == absl::StatusCode::kInternal) {
        ++invalid_;
        std::cout << name << ": " << solution.status() << std::endl;
      } else if (code == absl::StatusCode::kResourceExhausted) {
        ++open_;
        if (print) std::cout << name << ": not solved" << std::endl;
      } else {
        ++infeasible_;
      }
      return;
    }
    ++planned_;
    optimal_ += solution->optimal;
    gaps_.push_back(
        solution->lower_bound == 0
            ? 0
            : static_cast<double>(solution->peak) / static_cast<double>(solution->lower_bound) - 1);
    if (!print) return;
    std::printf("%-28s peak %lld bound %lld%s %.3f s (%.3f s of the processor) %lld steps\n",
                name.c_str(), static_cast<long long>(solution->peak),
                static_cast<long long>(solution->lower_bound), solution->optimal ? " optimal" : "",
                solution->seconds, cpu, static_cast<long long>(solution->nodes));
    std::fflush(stdout);
  }

  bool report(const std::string& gaps_file, int64_t within_ms) {
    std::sort(gaps_.begin(), gaps_.end());
    std::printf(
        "problems %lld, planned %lld, proven optimal %lld, proven infeasible "
        "or malformed %lld, not solved %lld, invalid %lld\n"
        "seconds of the processor: sum %.3f, slowest %.3f (%s), %lld times 1 or "
        "more\n",
        count_, planned_, optimal_, infeasible_, open_, invalid_, seconds_, slowest_,
        slowest_name_.c_str(), slow_);
    if (!gaps_.empty()) {
      const auto at = [&](double share) {
        return 100 * gaps_[static_cast<size_t>(share * static_cast<double>(gaps_.size() - 1))];
      };
      std::printf(
          "above the bound: median %.2f %%, 90%% %.2f %%, 99%% %.2f "
          "%%, most %.2f %%\n",
          at(0.5), at(0.9), at(0.99), at(1));
    }
    if (!gaps_file.empty()) write_picture(gaps_file);
    return invalid_ == 0 &&
           (within_ms == 0 || (open_ == 0 && slowest_ * 1000 <= static_cast<double>(within_ms)));
  }

 private:
  // Bars of one per cent each; the last takes all beyond.
  void write_picture(const std::string& file) const {
    constexpr int kBars = 26;
    std::vector<int64_t> bars(kBars, 0);
    for (const double gap : gaps_) {
      const int bar = gap <= 0 ? 0 : 1 + static_cast<int>(gap * 100);
      ++bars[std::min(bar, kBars - 1)];
    }
    std::ofstream out(file);
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" "
           "height=\"300\" font-family=\"sans-serif\" font-size=\"11\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
           "<text x=\"20\" y=\"20\">share of plans by per cent above the "
           "bound (first bar: at the bound)</text>\n";
    for (int i = 0; i < kBars; ++i) {
      const double share =
          static_cast<double>(bars[i]) / static_cast<double>(std::max<size_t>(gaps_.size(), 1));
      const double height = 220 * share;
      out << "<rect x=\"" << 20 + 23 * i << "\" y=\"" << 260 - height << "\" width=\"20\" height=\""
          << height << "\" fill=\"steelblue\"><title>" << bars[i] << "</title></rect>\n"
          << "<text x=\"" << 24 + 23 * i << "\" y=\"275\">"
          << (i == 0           ? "0"
              : i + 1 == kBars ? "more"
                               : std::to_string(i))
          << "</text>\n";
    }
    out << "</svg>\n";
  }

  long long count_ = 0, planned_ = 0, optimal_ = 0, infeasible_ = 0, open_ = 0, invalid_ = 0;
  double seconds_ = 0, slowest_ = 0;
  std::string slowest_name_;
  long long slow_ = 0;
  std::vector<double> gaps_;
};

int fail(const std::string& message) {
  std::cerr << "sweep: " << message << "\n";
  return 2;
}

int sweep_files(const Arguments& arguments, Options options, Tally* tally) {
  for (const std::string& file : arguments.files) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    absl::StatusOr<Problem> problem = parse_csv(text.str());
    if (!problem.ok()) {
      return fail(file + ": " + std::string(problem.status().message()));
    }
    if (arguments.capacity > 0) {
      problem->pools[0].capacity = arguments.capacity;
      options.goal = Goal::kFitCapacity;
    }
    const std::string name = file.substr(file.find_last_of('/') + 1);
    tally->add(name, *problem, options, true);
    tally->add(name + " mirrored", reversed(*problem), options, true);
    tally->add(name + " shuffled", shuffled(*problem, 1), options, true);
    tally->add(name + " scaled", scaled(*problem, 3), options, true);
  }
  return 0;
}

void sweep_cuts(const Arguments& arguments, Options options, Tally* tally) {
  // As many buffers as the hard problems of the MiniMalloc benchmark have.
  const std::vector<int> sizes = {154, 170, 203, 213, 215, 296, 308, 316, 374, 409, 454};
  if (!arguments.smallest) options.goal = Goal::kFitCapacity;
  for (int64_t i = arguments.first; i < arguments.first + arguments.count; ++i) {
    CutOptions cut;
    cut.num_buffers = sizes[static_cast<size_t>(i) % sizes.size()];
    cut.size_grain = cut.time_grain = arguments.grain;
    Problem problem = cut_rectangle(cut, static_cast<uint64_t>(i));
    if (!arguments.smallest) problem.pools[0].capacity = cut.capacity;
    tally->add("cut " + std::to_string(i), problem, options, arguments.count <= 1000);
  }
}

void sweep_pools(const Arguments& arguments, const Options& options, Tally* tally) {
  for (int64_t i = arguments.first; i < arguments.first + arguments.count; ++i) {
    const Problem problem = random_problem(1 + static_cast<int>(i % 40),
                                           1 + static_cast<int>(i % 4), static_cast<uint64_t>(i));
    tally->add("pools " + std::to_string(i), problem, options, false);
  }
}

int run(int argc, char** argv) {
  Arguments arguments;
  if (argc < 2) return fail("what to do? files, cuts or pools");
  arguments.what = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (option.rfind("--", 0) != 0) {
      arguments.files.push_back(option);
      continue;
    }
    if (++i == argc) return fail(option + " needs a value");
    const std::string value = argv[i];
    if (option == "--gaps") {
      arguments.gaps = value;
      continue;
    }
    if (option == "--goal") {
      if (value != "peak" && value != "capacity") {
        return fail("--goal is " + value + ", must be peak or capacity");
      }
      arguments.smallest = value == "peak";
      continue;
    }
    const int64_t number = std::atoll(value.c_str());
    if (number <= 0) return fail(option + " is " + value + ", must be > 0");
    if (option == "--count") {
      arguments.count = number;
    } else if (option == "--capacity") {
      arguments.capacity = number;
    } else if (option == "--nodes") {
      arguments.nodes = number;
    } else if (option == "--first") {
      arguments.first = number;
    } else if (option == "--within") {
      arguments.within_ms = number;
    } else if (option == "--grain") {
      arguments.grain = number;
    } else {
      return fail("unknown option " + option);
    }
  }
  Options options;
  options.node_budget = arguments.nodes;
  Tally tally;
  if (arguments.what == "files") {
    if (const int code = sweep_files(arguments, options, &tally)) return code;
  } else if (arguments.what == "cuts") {
    sweep_cuts(arguments, options, &tally);
  } else if (arguments.what == "pools") {
    sweep_pools(arguments, options, &tally);
  } else {
    return fail("what is " + arguments.what + "? files, cuts or pools");
  }
  return tally.report(arguments.gaps, arguments.within_ms) ? 0 : 1;
}

}  // namespace
}  // namespace petrel::exir::plan

int main(int argc, char** argv) { return petrel::exir::plan::run(argc, argv); }
