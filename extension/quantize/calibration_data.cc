// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/calibration_data.h"

#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "exir/annotate.h"
#include "exir/import/zip_archive.h"
#include "exir/input/file_content.h"
#include "exir/status_macros.h"

namespace petrel::extension {
namespace {

using Arrays = std::map<std::string, NpyArray>;

std::string text_of(const std::vector<int64_t>& sizes) {
  return absl::StrCat("[", absl::StrJoin(sizes, ","), "]");
}

template <typename... Args>
absl::Status invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// By name of the array; the one of an .npy file is arr_0, as NumPy would call it.
absl::StatusOr<Arrays> read_arrays(const std::string& path) {
  Arrays arrays;
  if (!absl::EndsWith(path, ".npz")) {
    PETREL_ASSIGN_OR_RETURN(arrays["arr_0"], read_npy(path));
    return arrays;
  }
  auto bytes = exir::read_file_content(path, exir::kMaxContentBytes);
  if (!bytes.ok()) return exir::annotate(bytes.status(), path);
  const auto* data = reinterpret_cast<const uint8_t*>(bytes->data());
  auto zip = exir::ZipArchive::open({data, bytes->size()});
  if (!zip.ok()) return invalid(path, ": ", zip.status().message());
  for (const std::string& member : zip->names()) {
    if (zip->is_compressed(member)) {
      return invalid(path, ": is compressed; save it with numpy.savez, which does not, ",
                     "instead of numpy.savez_compressed");
    }
    auto content = zip->read(member);
    if (!content.ok()) return exir::annotate(content.status(), path);
    const absl::string_view text(reinterpret_cast<const char*>(content->data()), content->size());
    PETREL_ASSIGN_OR_RETURN(arrays[std::string(absl::StripSuffix(member, ".npy"))],
                            parse_npy(text, absl::StrCat(path, ": ", member)));
  }
  return arrays;
}

bool fits(absl::Span<const int64_t> shape, const CalibrationInput& input) {
  if (shape.size() != input.sizes.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0 || shape[d] > input.sizes[d]) return false;
    if (input.is_fixed && shape[d] != input.sizes[d]) return false;
  }
  return true;
}

// How many samples the array is of its input, and what shape one has.
absl::StatusOr<size_t> samples_of(const NpyArray& array, const CalibrationInput& input,
                                  std::vector<int64_t>* shape) {
  if (array.type != input.type) {
    return invalid("has dtype ", runtime::to_string(array.type), ", the input takes ",
                   runtime::to_string(input.type));
  }
  *shape = array.shape;
  if (fits(array.shape, input)) return 1;
  const bool has_first = !array.shape.empty() && array.shape[0] >= 0;
  // Samples of nothing take no bytes, and a file may have any number of them.
  if (has_first && array.shape[0] > 0 && array.data.empty()) {
    return invalid("has shape ", text_of(array.shape), ": its samples have no elements");
  }
  std::vector<int64_t> rest(array.shape.begin() + (has_first ? 1 : 0), array.shape.end());
  if (has_first && fits(rest, input)) {
    *shape = std::move(rest);
    return static_cast<size_t>(array.shape[0]);
  }
  if (has_first && input.is_fixed && !input.sizes.empty() && input.sizes[0] > 0 &&
      array.shape[0] % input.sizes[0] == 0) {
    (*shape)[0] = input.sizes[0];
    if (fits(*shape, input)) return static_cast<size_t>(array.shape[0] / input.sizes[0]);
  }
  // More rows than one call takes are one sample each.
  if (has_first && !input.is_fixed && !input.sizes.empty() && array.shape[0] > input.sizes[0]) {
    (*shape)[0] = 1;
    if (fits(*shape, input)) return static_cast<size_t>(array.shape[0]);
  }
  return invalid("has shape ", text_of(array.shape), ", the input takes ", text_of(input.sizes),
                 ", or as many of these as there are samples");
}

}  // namespace

absl::StatusOr<CalibrationFile> CalibrationFile::open(const std::string& path,
                                                      const std::vector<CalibrationInput>& inputs) {
  PETREL_ASSIGN_OR_RETURN(Arrays arrays, read_arrays(path));
  std::vector<NpyArray> chosen;
  std::vector<std::vector<int64_t>> shapes;
  std::optional<size_t> samples;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto found = arrays.find(inputs[i].name);
    if (found == arrays.end()) found = arrays.find(absl::StrCat("arr_", i));
    if (found == arrays.end()) {
      return invalid(path, ": has no array '", inputs[i].name, "' or 'arr_", i, "' for input ", i);
    }
    const std::string subject = absl::StrCat(path, ": array '", found->first, "'");
    auto count = samples_of(found->second, inputs[i], &shapes.emplace_back());
    if (!count.ok()) return exir::annotate(count.status(), subject);
    if (samples && *samples != *count) {
      return invalid(subject, " has ", *count, " samples, others have ", *samples);
    }
    samples = *count;
    chosen.push_back(std::move(found->second));
    arrays.erase(found);
  }
  if (!arrays.empty()) {
    return invalid(path, ": array '", arrays.begin()->first, "' is of no input");
  }
  return CalibrationFile(std::move(chosen), std::move(shapes), samples.value_or(0));
}

std::vector<NpyArray> CalibrationFile::sample(size_t i) const {
  std::vector<NpyArray> sample;
  for (size_t k = 0; k < arrays_.size(); ++k) {
    NpyArray array;
    array.type = arrays_[k].type;
    array.shape = shapes_[k];
    const size_t bytes = arrays_[k].data.size() / samples_;
    const auto begin = arrays_[k].data.begin() + static_cast<ptrdiff_t>(i * bytes);
    array.data.assign(begin, begin + static_cast<ptrdiff_t>(bytes));
    sample.push_back(std::move(array));
  }
  return sample;
}

absl::StatusOr<size_t> for_each_sample(const std::vector<std::string>& files,
                                       const std::vector<CalibrationInput>& inputs,
                                       const WantsSample& wants, const UseSample& use) {
  size_t place = 0;
  for (const std::string& path : files) {
    PETREL_ASSIGN_OR_RETURN(const auto file, CalibrationFile::open(path, inputs));
    for (size_t i = 0; i < file.size(); ++i, ++place) {
      if (wants && !wants(place)) continue;
      const absl::Status used = use(place, file.sample(i));
      if (!used.ok()) return exir::annotate(used, absl::StrCat(path, ": sample ", i));
    }
  }
  return place;
}

}  // namespace petrel::extension
