// SPDX-License-Identifier: Apache-2.0
//
// What the values of one method were seen to be, when its observed program ran on samples:
//
//   Observer observer(observed.methods.at("forward"));
//   observer.watch_channels("relu", 1);
//   PETREL_ASSIGN_OR_RETURN(const size_t samples, observer.see_all(files, {}, std::move(runner)));
//   observer.ranges(), observer.channels("relu")
//
// A second look counts how numbers are spread over ranges (look_again). The observed method
// outlives it.
#ifndef PETREL_EXTENSION_QUANTIZE_OBSERVER_H_
#define PETREL_EXTENSION_QUANTIZE_OBSERVER_H_

#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/driver/observe.h"
#include "exir/quantize/channel_stats.h"
#include "extension/quantize/calibration_data.h"
#include "extension/quantize/method_runner.h"
#include "runtime/core/tensor.h"

namespace petrel::extension {

class Observer {
 public:
  explicit Observer(const exir::ObservedMethod& method) : method_(method) {}

  // For an output of the observed program: tells its channels apart.
  // `dim` is that of the value, which the program may show with channels last.
  void watch_channels(const std::string& name, size_t dim);

  // Looks at channels in the first samples only.
  void watch_first(size_t samples) { watched_samples_ = samples; }

  // Looks at those that are wanted; the number of all samples. InvalidArgument naming a value
  // that is not finite.
  absl::StatusOr<size_t> see_all(const std::vector<std::string>& files, const WantsSample& wants,
                                 MethodRunner runner);

  // How many ends of ranges each of `samples` samples holds: of equal ends the first.
  std::vector<size_t> ends_held(size_t samples) const;

  // InvalidArgument naming an input whose numbers, near 0 in all samples, are no measure of
  // others: a scale from them would show these as one level.
  absl::Status check_inputs() const;

  const exir::ChannelStats& channels(const std::string& name) const {
    return watched_.at(name).seen;
  }
  // The channels of a watched value are divided, as seen and in later looks.
  void divide(const std::string& name, const std::vector<float>& factors);

  // From here on counts how numbers are spread over these ranges.
  void look_again(const exir::Ranges& shared);

  const exir::Ranges& ranges() const { return ranges_; }
  const exir::Histograms& histograms() const { return histograms_; }

 private:
  struct Watched {
    size_t dim = 0;
    exir::ChannelStats seen;
    std::vector<float> factors;  // none: as they are
  };

  // Samples that hold the ends of a range.
  struct Holders {
    size_t min = 0;
    size_t max = 0;
  };

  absl::Status see_value(size_t i, const std::string& name, const float* elements, size_t count);
  absl::Status see_output(size_t i, const std::string& name, const runtime::Tensor& tensor);
  absl::Status see_sample(size_t i, const std::vector<NpyArray>& sample, MethodRunner& runner);

  const exir::ObservedMethod& method_;
  exir::Ranges ranges_;
  std::map<std::string, Holders> holders_;
  exir::Histograms histograms_;
  std::set<std::string> left_out_;  // optional, and not finite once
  std::map<std::string, Watched> watched_;
  size_t watched_samples_ = std::numeric_limits<size_t>::max();
};

// By method.
using Observers = std::map<std::string, Observer>;

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_OBSERVER_H_
