// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/derived_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "exir/backend/weight_routes.h"
#include "exir/status_macros.h"
#include "extension/relink/data_input.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/tensor.h"

namespace petrel::extension {
namespace {

using exir::Blob;
using exir::NamedBlobStore;
using exir::TensorType;

constexpr uint64_t kWeightAlignment = 16;

// Elements in memory, of a type whose dims lie in order.
struct Elements {
  TensorType type;
  Blob blob;
};

size_t item_size(const TensorType& type) {
  return runtime::element_size(static_cast<runtime::ScalarType>(type.dtype));
}

bool is_in_order(const TensorType& type) {
  return std::is_sorted(type.dim_order.begin(), type.dim_order.end());
}

std::optional<std::vector<int64_t>> numbers(absl::string_view text, char separator) {
  std::vector<int64_t> list;
  for (const absl::string_view word : absl::StrSplit(text, separator)) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(word, &number) || number < 0) return std::nullopt;
    list.push_back(number);
  }
  return list;
}

bool is_permutation_of(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) return false;
  }
  return axes.size() == rank;
}

// How the elements of a tensor are found in another one: `size` of them `stride` elements apart.
struct Dim {
  int64_t size = 1;
  int64_t stride = 0;
};

// Dims of one element move nothing: their strides may be any number, and a place that goes through
// all of them for each element would cost as much as the key is long.
std::vector<Dim> dims_that_move(const std::vector<int64_t>& sizes,
                                const std::vector<int64_t>& strides) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) dims.push_back({sizes[i], strides[i]});
  }
  return dims;
}

// A tensor of `sizes` whose elements are those of `from` `strides` elements apart; false
// if some are outside.
bool take(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
          Elements* elements) {
  const Elements& from = *elements;
  const std::vector<Dim> dims = dims_that_move(sizes, strides);
  const auto item = static_cast<int64_t>(item_size(from.type));
  const auto count = static_cast<int64_t>(from.blob.size()) / item;
  int64_t number = 1, last = 0;
  for (const Dim& dim : dims) {
    int64_t reach = 0;
    if (dim.size < 1 || __builtin_mul_overflow(dim.size - 1, dim.stride, &reach) ||
        __builtin_add_overflow(last, reach, &last) ||
        __builtin_mul_overflow(number, dim.size, &number)) {
      return false;
    }
  }
  // Each element is taken once.
  if (number != count || last >= count) return false;
  Elements to;
  to.type = TensorType::contiguous(from.type.dtype, sizes);
  const Blob::Bytes bytes = from.blob.bytes();
  std::vector<uint8_t> out(bytes.span().size());
  std::vector<int64_t> index(dims.size(), 0);
  int64_t place = 0;  // in `from`
  for (int64_t done = 0; done < count; ++done) {
    std::memcpy(out.data() + done * item, bytes.span().data() + place * item,
                static_cast<size_t>(item));
    for (size_t i = dims.size(); i-- > 0;) {
      place += dims[i].stride;
      if (++index[i] < dims[i].size) break;
      place -= dims[i].stride * dims[i].size;
      index[i] = 0;
    }
  }
  to.blob = Blob::copy_of(out);
  *elements = std::move(to);
  return true;
}

// Axis i of the result is axis axes[i] of `elements`.
bool permute(const std::vector<int64_t>& axes, Elements* elements) {
  const std::vector<int64_t>& from = elements->type.sizes;
  const size_t rank = from.size();
  if (!is_permutation_of(axes, rank)) return false;
  std::vector<int64_t> sizes;
  for (const int64_t axis : axes) sizes.push_back(from[static_cast<size_t>(axis)]);
  if (elements->blob.size() == 0) {
    // Where one size is 0 the others have no bound, and nothing moves.
    elements->type = TensorType::contiguous(elements->type.dtype, sizes);
    return true;
  }
  std::vector<int64_t> of_source(rank, 1), strides;
  for (size_t i = rank; i-- > 1;) of_source[i - 1] = of_source[i] * from[i];
  for (const int64_t axis : axes) strides.push_back(of_source[static_cast<size_t>(axis)]);
  return take(sizes, strides, elements);
}

// A program has no tensor of more dims, but a key has room for a thousand.
absl::Status check_rank(absl::string_view step, size_t rank) {
  if (rank <= runtime::kTensorDimensionLimit) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'", step.substr(0, 20), "...' has ", rank,
                                                 " dims, must have at most ",
                                                 runtime::kTensorDimensionLimit));
}

absl::Status needs_the_model(absl::string_view step) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", step, "' needs the model, whose archive --from can name"));
}

// One step of a key, such as "@permute_1_0", "#0231" or "#2x3:1,2". Fails for one that
// needs more than the tensor.
absl::Status do_step(absl::string_view step, Elements* elements) {
  bool is_done = false;
  absl::string_view rest = step;
  if (absl::ConsumePrefix(&rest, "#")) {
    const std::vector<absl::string_view> halves = absl::StrSplit(rest, ':');
    if (halves.size() == 2) {
      const auto sizes = numbers(halves[0], 'x'), strides = numbers(halves[1], ',');
      if (sizes) PETREL_RETURN_IF_ERROR(check_rank(step, sizes->size()));
      is_done =
          sizes && strides && sizes->size() == strides->size() && take(*sizes, *strides, elements);
    } else {
      std::vector<int64_t> axes;
      for (const char digit : rest) axes.push_back(digit - '0');
      is_done = permute(axes, elements);
    }
  } else if (absl::ConsumePrefix(&rest, "@permute_")) {
    const auto axes = numbers(rest, '_');
    is_done = axes && permute(*axes, elements);
  } else if (absl::ConsumePrefix(&rest, "@view_")) {
    const auto sizes = numbers(rest, '_');
    if (sizes) {
      PETREL_RETURN_IF_ERROR(check_rank(step, sizes->size()));
      const TensorType type = TensorType::contiguous(elements->type.dtype, *sizes);
      is_done = type.nbytes() == elements->type.nbytes();
      if (is_done) elements->type = type;
    }
  }
  return is_done ? absl::OkStatus() : needs_the_model(step);
}

// "conv.weight", "@bn1" and "#0231" of "conv.weight@bn1#0231".
std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts = {""};
  for (const char c : key) {
    if (c == '@' || c == '#') parts.emplace_back();
    parts.back() += c;
  }
  return parts;
}

// Each may move all elements; what passes make has two or three.
constexpr size_t kMaxSteps = 16;

// What all that are made of tensors may have together: so many times the bytes of these, and
// some more. A few bytes of a program name a tensor once again, in another order.
constexpr uint64_t kMaxTimes = 4;
constexpr uint64_t kMoreBytes = uint64_t{64} << 20;

class Deriver {
 public:
  Deriver(const BuildOptions& options, const std::string& file) : options_(options), file_(file) {}

  absl::Status read(const std::string& path) {
    path_ = path;
    PETREL_ASSIGN_OR_RETURN(std::vector<DataEntry> entries, read_data_file(path));
    for (DataEntry& entry : entries) {
      std::string name = entry.key;
      for (const auto& [from, to] : options_.renames) {
        const size_t place = name.find(from);
        if (place != std::string::npos) name.replace(place, from.size(), to);
      }
      const std::string key = entry.key;
      file_bytes_ += entry.blob.size();
      if (exir::matches_glob(options_.keys, name)) unused_.insert(name);
      if (!tensors_.emplace(name, std::move(entry)).second) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": two tensors are called '", name, "', one is '", key, "'"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status add(const exir::WeightAddition& weight) {
    const std::vector<std::string> parts = parts_of(weight.key);
    if (!exir::matches_glob(options_.keys, parts[0])) return absl::OkStatus();
    // It may have been made already.
    auto found = tensors_.find(weight.key);
    const size_t num_steps = found != tensors_.end() ? 0 : parts.size() - 1;
    if (found == tensors_.end()) found = tensors_.find(parts[0]);
    if (found == tensors_.end() && weight.key.find("@made_") != std::string::npos) {
      problems_.push_back(absl::StrCat("'", weight.key,
                                       "': is made of several weights and needs "
                                       "the model, whose archive --from can name"));
      return absl::OkStatus();
    }
    if (found == tensors_.end()) {
      problems_.push_back(absl::StrCat("'", weight.key, "': the file has no '", parts[0], "'"));
      return absl::OkStatus();
    }
    unused_.erase(found->first);
    if (weight.digest) {
      problems_.push_back(absl::StrCat("'", weight.key, "': the program is bound to its bytes"));
      return absl::OkStatus();
    }
    const DataEntry& entry = found->second;
    if (num_steps == 0 && !entry.layout && !weight.layout && entry.blob.size() == weight.bytes) {
      return store_.add_named_blob(weight.key, entry.blob, kWeightAlignment, file_).status();
    }
    if (!entry.layout || !is_in_order(*entry.layout)) {
      problems_.push_back(absl::StrCat("'", weight.key, "': the file does not say its layout"));
      return absl::OkStatus();
    }
    if (num_steps > kMaxSteps) {
      problems_.push_back(absl::StrCat("'", parts[0], "': the key of the program has ", num_steps,
                                       " steps, must have at most ", kMaxSteps));
      return absl::OkStatus();
    }
    if (num_steps > 0) {
      made_bytes_ += entry.blob.size();
      const uint64_t most = kMaxTimes * file_bytes_ + kMoreBytes;
      if (made_bytes_ > most) {
        return absl::FailedPreconditionError(absl::StrCat(
            path_, ": the weights that the program makes of its tensors have more than ", most,
            " bytes, the most for a file of ", file_bytes_, "; '", weight.key, "' is one of them"));
      }
    }
    Elements elements{*entry.layout, entry.blob};
    for (size_t i = 1; i <= num_steps; ++i) {
      const absl::Status step = do_step(parts[i], &elements);
      if (step.ok()) continue;
      problems_.push_back(absl::StrCat("'", weight.key, "': ", step.message()));
      return absl::OkStatus();
    }
    if (elements.blob.size() != weight.bytes ||
        (weight.layout && *weight.layout != elements.type)) {
      problems_.push_back(absl::StrCat(
          "'", weight.key, "': is ", exir::to_string(elements.type), ", the program needs ",
          weight.layout ? exir::to_string(*weight.layout) : absl::StrCat(weight.bytes, " bytes")));
      return absl::OkStatus();
    }
    return store_.add_named_blob(weight.key, elements.blob, kWeightAlignment, file_, weight.layout)
        .status();
  }

  absl::StatusOr<NamedBlobStore> take() {
    for (const std::string& name : unused_) {
      problems_.push_back(
          absl::StrCat("'", name, "': the program has no such weight; --rename may name it"));
    }
    if (problems_.empty()) return std::move(store_);
    return absl::FailedPreconditionError(absl::StrCat(
        path_, ": cannot be made into data for the program\n", absl::StrJoin(problems_, "\n")));
  }

 private:
  const BuildOptions& options_;
  const std::string& file_;
  std::string path_;
  std::map<std::string, DataEntry> tensors_;  // by their new names
  std::set<std::string> unused_;              // of those that the pattern matches
  std::vector<std::string> problems_;
  uint64_t file_bytes_ = 0, made_bytes_ = 0;
  NamedBlobStore store_;
};

}  // namespace

absl::StatusOr<NamedBlobStore> derived_weights(const exir::Additions& additions,
                                               const BuildOptions& options,
                                               const std::string& tensors,
                                               const std::string& file) {
  Deriver deriver(options, file);
  PETREL_RETURN_IF_ERROR(deriver.read(tensors));
  for (const exir::WeightAddition& weight : additions.weights) {
    PETREL_RETURN_IF_ERROR(deriver.add(weight));
  }
  return deriver.take();
}

}  // namespace petrel::extension
