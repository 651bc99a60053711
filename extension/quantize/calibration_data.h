// SPDX-License-Identifier: Apache-2.0
//
// Samples to calibrate with, from NumPy files:
//
//   x.npy                  the only input of a method
//   inputs.npz             inputs by name, or by position: arr_0, arr_1, ...
//
// An array has the rank of its input, and is one sample, or one dimension more in front:
// as many samples. So it is where it holds an input of fixed sizes several times, one after
// another: 50 images for an input [1,3,32,32]. Where sizes vary and it has more rows than the
// input takes, each row is a sample. All arrays of one file have equally many.
//
//   PETREL_ASSIGN_OR_RETURN(const CalibrationFile file, CalibrationFile::open(path, inputs));
//   for (size_t i = 0; i < file.size(); ++i) use(file.sample(i));
//
// A file is in memory as long as the object, not longer: any number of files can follow.
#ifndef PETREL_EXTENSION_QUANTIZE_CALIBRATION_DATA_H_
#define PETREL_EXTENSION_QUANTIZE_CALIBRATION_DATA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/npy/npy.h"
#include "runtime/core/scalar_type.h"

namespace petrel::extension {

// A tensor input of the method.
struct CalibrationInput {
  std::string name;
  runtime::ScalarType type = runtime::ScalarType::Float;
  std::vector<int64_t> sizes;  // at most
  bool is_fixed = false;       // of these sizes alone
};

class CalibrationFile {
 public:
  // InvalidArgument naming the file, the array, what it has and what the input takes.
  static absl::StatusOr<CalibrationFile> open(const std::string& path,
                                              const std::vector<CalibrationInput>& inputs);

  size_t size() const { return samples_; }
  // One array for each input. Precondition: i < size().
  std::vector<NpyArray> sample(size_t i) const;

 private:
  CalibrationFile(std::vector<NpyArray> arrays, std::vector<std::vector<int64_t>> shapes,
                  size_t samples)
      : arrays_(std::move(arrays)), shapes_(std::move(shapes)), samples_(samples) {}

  std::vector<NpyArray> arrays_;              // by input
  std::vector<std::vector<int64_t>> shapes_;  // of a sample
  size_t samples_;
};

// Whether the sample of a place is used; an empty function uses all.
using WantsSample = std::function<bool(size_t)>;

// A sample, and its place among all samples of a method.
using UseSample = std::function<absl::Status(size_t, const std::vector<NpyArray>&)>;

// Gives `use` the samples of the files that are wanted, one file after another, and returns how
// many samples the files have. An error of `use` gets the file and the sample in front.
absl::StatusOr<size_t> for_each_sample(const std::vector<std::string>& files,
                                       const std::vector<CalibrationInput>& inputs,
                                       const WantsSample& wants, const UseSample& use);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_CALIBRATION_DATA_H_
