// SPDX-License-Identifier: Apache-2.0
//
// How good programs of one model are, tried one after another on the same
// samples: the float model is run once, and what it made is kept, as are the
// samples where they are few.
//
//   PETREL_ASSIGN_OR_RETURN(const Judge judge, Judge::make(options, floats));
//   PETREL_ASSIGN_OR_RETURN(const Verdict verdict, judge.judge(bytes, 1));
//   verdict.decibels, verdict.right
#ifndef PETREL_EXTENSION_QUANTIZE_JUDGE_H_
#define PETREL_EXTENSION_QUANTIZE_JUDGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/npy/npy.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/sample_picks.h"

namespace petrel::extension {

// Samples that noise is measured on where there are more and no labels.
inline constexpr size_t kMostJudged = 64;

struct Verdict {
  double decibels = 0;  // of the output with most noise; infinite where nothing differs
  double noise = 0;     // relative to the signal, of all outputs together
  size_t right = 0;     // samples whose label the first output tells
};

class Judge {
 public:
  // `floats` are the bytes of a program. InvalidArgument naming the file of
  // labels and what is wrong with it: one whole number for each sample, a place
  // in the first output. Judged are the samples that are picked; of a method without picks
  // kMostJudged, of one with labels all. The options outlive this.
  static absl::StatusOr<Judge> make(const CalibrateOptions& options, const std::string& floats,
                                    const PicksByMethod& picks = {});

  // Runs every `step`th of them; labels count with all of them only.
  absl::StatusOr<Verdict> judge(const std::string& program, size_t step) const;

  size_t samples() const { return samples_; }  // of all methods, those that are judged
  bool has_labels() const { return !labels_.empty(); }
  size_t labels() const { return labels_.size(); }
  const Verdict& floats() const { return floats_; }

 private:
  // By output; empty for those that are not f32.
  using Outputs = std::vector<std::vector<float>>;
  using Sample = std::vector<NpyArray>;  // by input

  struct Judged {
    SamplePick pick;
    Outputs wanted;
    Sample sample;  // empty where all are judged and they are many: files are read anew
  };

  explicit Judge(const CalibrateOptions& options) : options_(&options) {}
  absl::Status read_labels();
  absl::Status run_floats(const std::string& program, const PicksByMethod& picks);

  const CalibrateOptions* options_;
  size_t samples_ = 0;
  std::map<std::string, std::vector<Judged>> judged_;  // by method
  std::vector<int64_t> labels_;                        // of options.budget.labels_method
  Verdict floats_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_JUDGE_H_
