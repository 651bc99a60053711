// SPDX-License-Identifier: Apache-2.0
#include "extension/project/tune.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"
#include "extension/project/server_call.h"
#include "extension/project/server_stream.h"
#include "extension/project/build.h"
#include "extension/project/profile.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBuildMs = 700'000;
constexpr int64_t kFlashMs = 400'000;
// Less than this share is not worth another kernel than the one that the target takes.
constexpr double kLeastGain = 0.005;

// A node with variants, and what is known of it.
struct Candidate {
  PackageKernel kernel;
  exir::TunedNode row;
};

class Tuner {
 public:
  Tuner(const Project& project, const GenerateModel& generate, const TuneOptions& options)
      : project_(project),
        generate_(generate),
        options_(options),
        folder_(fs::path(project.folder) / "build" / "tune") {}
  ~Tuner() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  absl::StatusOr<Tuning> tune() {
    if (project_.board.timer.stops_in_sleep && project_.package.has_devices) {
      return absl::FailedPreconditionError(
          absl::StrCat("the timer of board '", project_.board.name,
                       "' stands still in sleep, in which model '", project_.package.name,
                       "' may wait for its devices: give the board a timer that counts on"));
    }
    Tuning tuning;
    PETREL_ASSIGN_OR_RETURN(const BoardProfile first, measure({}));
    tuning.record.hz = first.hz;
    tuning.record.target_ticks = first.ticks();
    if (candidates_.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("no node of model '", project_.package.name,
                       "' has a kernel with variants, as without --int8 integer"));
    }
    note(first, 0);
    size_t most = 1;
    for (const Candidate& one : candidates_) most = std::max(most, one.kernel.variants.size());
    for (size_t round = 1; round < most; ++round) measure_round(round, &tuning.notes);
    PETREL_RETURN_IF_ERROR(choose(&tuning));
    for (Candidate& one : candidates_) tuning.record.nodes.push_back(std::move(one.row));
    return tuning;
  }

 private:
  // What a node has in a round.
  static const std::string& variant_in(const Candidate& one, size_t round) {
    return one.kernel.variants[round < one.kernel.variants.size() ? round : 0];
  }

  // All nodes that have so many variants get that one. Where they do not fit together, each is
  // tried alone.
  void measure_round(size_t round, std::vector<std::string>* notes) {
    const auto only = [&](const Candidate* wanted) {
      TunedKernels tuned;
      for (const Candidate& one : candidates_) {
        const bool is_meant = wanted == nullptr || &one == wanted;
        tuned.push_back({one.row.node, one.row.product, variant_in(one, is_meant ? round : 0)});
      }
      return tuned;
    };
    const absl::StatusOr<BoardProfile> all = measure(only(nullptr));
    if (all.ok()) return note(*all, round);
    for (const Candidate& one : candidates_) {
      if (round >= one.kernel.variants.size()) continue;
      const absl::StatusOr<BoardProfile> alone = measure(only(&one));
      if (alone.ok()) {
        note(*alone, round, &one);
      } else {
        notes->push_back(absl::StrCat(one.row.node, ": ", one.kernel.variants[round],
                                      " is left out: ", alone.status().message()));
      }
    }
  }

  absl::StatusOr<BoardProfile> measure(const TunedKernels& tuned) {
    if (options_.on_round) options_.on_round(absl::StrCat("measurement ", ++measurements_));
    const std::string model = folder_ / "model", folder = folder_ / "project";
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    PETREL_RETURN_IF_ERROR(generate_(model, tuned));
    PETREL_RETURN_IF_ERROR(copy_project(project_, model, folder));
    PETREL_ASSIGN_OR_RETURN(Project copy, Project::read(folder));
    copy.device = project_.device;
    if (candidates_.empty()) read_candidates(copy.package);
    PETREL_RETURN_IF_ERROR(call_server(copy, "build", {{"driver", kProfile}}, kBuildMs).status());
    if (!copy.board.flash.empty()) {
      PETREL_RETURN_IF_ERROR(
          call_server(copy, "flash", {{"driver", kProfile}, {"device", copy.device}}, kFlashMs)
              .status());
    }
    PETREL_ASSIGN_OR_RETURN(const auto stream, open_any_stream(copy, kProfile));
    return read_profile(*stream, options_.timeout_ms);
  }

  void read_candidates(const ModelPackage& package) {
    for (const PackageMethod& method : package.methods) {
      for (const PackageKernel& kernel : method.kernels) {
        if (kernel.variants.empty()) continue;
        Candidate one{kernel, {}};
        one.row.method = method.name;
        one.row.node = kernel.node;
        one.row.product = kernel.product;
        one.row.variant = one.row.target_variant = kernel.variants[0];
        candidates_.push_back(std::move(one));
      }
    }
  }

  // The ticks of a round, of one node or of all that have so many variants.
  void note(const BoardProfile& profile, size_t round, const Candidate* only = nullptr) {
    for (Candidate& one : candidates_) {
      if (round >= one.kernel.variants.size() || (only != nullptr && &one != only)) continue;
      for (const MethodTicks& method : profile.methods) {
        for (const StepTicks& step : method.steps) {
          if (method.name != one.row.method || step.name != one.kernel.step) continue;
          one.row.ticks.emplace_back(one.kernel.variants[round], step.ticks);
        }
      }
    }
  }

  // The best of each, and what they make together.
  absl::Status choose(Tuning* tuning) {
    TunedKernels tuned;
    bool is_other = false;
    for (Candidate& one : candidates_) {
      if (!one.row.ticks.empty()) {
        const auto best =
            std::min_element(one.row.ticks.begin(), one.row.ticks.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        const auto first = static_cast<double>(one.row.ticks[0].second);
        if (static_cast<double>(best->second) < (1 - kLeastGain) * first) {
          one.row.variant = best->first;
          is_other = true;
        }
      }
      tuned.push_back({one.row.node, one.row.product, one.row.variant});
    }
    exir::TuningRecord& record = tuning->record;
    record.tuned_ticks = record.target_ticks;
    if (!is_other) return absl::OkStatus();
    const absl::StatusOr<BoardProfile> together = measure(tuned);
    if (together.ok()) record.tuned_ticks = together->ticks();
    if (together.ok() && record.tuned_ticks < record.target_ticks) return absl::OkStatus();
    tuning->notes.push_back(
        together.ok() ? absl::StrCat("the best of each take ", record.tuned_ticks,
                                     " ticks together, which is not less than ",
                                     record.target_ticks, ": those of the target stay")
                      : absl::StrCat("the best of each do not go together, those of the target "
                                     "stay: ",
                                     together.status().message()));
    record.tuned_ticks = record.target_ticks;
    for (Candidate& one : candidates_) one.row.variant = one.row.target_variant;
    return absl::OkStatus();
  }

  const Project& project_;
  const GenerateModel& generate_;
  const TuneOptions& options_;
  const fs::path folder_;
  std::vector<Candidate> candidates_;
  int measurements_ = 0;
};

}  // namespace

absl::StatusOr<Tuning> tune(const Project& project, const GenerateModel& generate,
                            const TuneOptions& options) {
  return Tuner(project, generate, options).tune();
}

}  // namespace petrel::extension
