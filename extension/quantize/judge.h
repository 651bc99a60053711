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

namespace petrel::extension {

// Samples that noise is measured on, spread evenly, where there are more and no
// labels.
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
  // in the first output. `most` samples of a method are judged; the options outlive this.
  static absl::StatusOr<Judge> make(const CalibrateOptions& options, const std::string& floats,
                                    size_t most = kMostJudged);

  // Runs every `step`th sample; labels count with all of them only.
  absl::StatusOr<Verdict> judge(const std::string& program, size_t step) const;

  size_t samples() const { return samples_; }  // of all methods, those that are judged
  bool has_labels() const { return !labels_.empty(); }
  size_t labels() const { return labels_.size(); }
  const Verdict& floats() const { return floats_; }

 private:
  // By output; empty for those that are not f32.
  using Outputs = std::vector<std::vector<float>>;
  using Sample = std::vector<NpyArray>;  // by input

  Judge(const CalibrateOptions& options, size_t most) : options_(&options), most_(most) {}
  absl::Status read_labels();
  absl::Status run_floats(const std::string& program);

  const CalibrateOptions* options_;
  size_t most_;
  size_t samples_ = 0;
  std::map<std::string, size_t> stride_;  // by method
  // Those that are judged, by method; of a method with more than `most` labels none, and the files
  // are read anew.
  std::map<std::string, std::vector<Sample>> kept_;
  std::map<std::string, std::vector<Outputs>> wanted_;  // by method and sample
  std::vector<int64_t> labels_;                         // of options.budget.labels_method
  Verdict floats_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_JUDGE_H_
