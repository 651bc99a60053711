// SPDX-License-Identifier: Apache-2.0
#include "exir/import/payloads.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/import/tensor_meta.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// What an expanded tensor may grow to beyond its storage.
constexpr int64_t kMaxExpandedBytes = int64_t{64} << 20;

// What all views may have together: that many times the bytes of the file, and some more.
// A few bytes of an archive name a storage once again, in another place or form, and each
// view is read and written on its own.
constexpr uint64_t kMaxTimes = 4;
constexpr uint64_t kMoreBytes = uint64_t{1} << 30;

bool strides_are_contiguous(const Sizes& sizes, const Sizes& strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

// The elements behind a view in the order of its indices. Precondition: they
// all lie in `storage`, and there is at least one.
void copy_strided(absl::Span<const uint8_t> storage, const Sizes& sizes, const Sizes& strides,
                  int64_t offset, size_t item, uint8_t* out) {
  Sizes index(sizes.size(), 0);
  int64_t place = offset;
  while (true) {
    std::memcpy(out, storage.data() + static_cast<size_t>(place) * item, item);
    out += item;
    size_t dim = sizes.size();
    while (dim > 0) {
      --dim;
      place += strides[dim];
      if (++index[dim] < sizes[dim]) break;
      place -= strides[dim] * sizes[dim];
      index[dim] = 0;
      if (dim == 0) return;
    }
    if (sizes.empty()) return;
  }
}

}  // namespace

absl::Status Payloads::read_config(Section section, const std::string& folder,
                                   const std::string& config) {
  folders_[section] = folder;
  const std::string name = absl::StrCat(folder, archive_->name, config);
  const std::string pickle = absl::StrCat(folder, archive_->name, ".pt");
  if (!archive_->zip.contains(name) && archive_->zip.contains(pickle)) {
    return absl::InvalidArgumentError(
        absl::StrCat("member '", pickle,
                     "' is a pickle of torch 2.8; save the program again with 2.9 or "
                     "newer"));
  }
  PETREL_ASSIGN_OR_RETURN(absl::Span<const uint8_t> bytes, archive_->zip.read(name));
  PETREL_ASSIGN_OR_RETURN(JsonDocument document, JsonDocument::parse(bytes, name));
  PETREL_ASSIGN_OR_RETURN(Json entries, document.root().at("config"));
  PETREL_ASSIGN_OR_RETURN(auto members, entries.members());
  documents_.push_back(std::move(document));
  for (auto& [fqn, meta] : members) {
    if (!metas_.emplace(std::make_pair(section, fqn), meta).second) {
      return meta.error("occurs twice");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Payloads> Payloads::open(const ProgramArchive& archive,
                                        const std::string& torch_version) {
  Payloads payloads;
  payloads.archive_ = &archive;
  payloads.torch_version_ = torch_version;
  PETREL_RETURN_IF_ERROR(
      payloads.read_config(Section::kWeights, "data/weights/", "_weights_config.json"));
  PETREL_RETURN_IF_ERROR(
      payloads.read_config(Section::kConstants, "data/constants/", "_constants_config.json"));
  return payloads;
}

absl::StatusOr<absl::Span<const uint8_t>> Payloads::storage(const std::string& member) {
  const auto it = storages_.find(member);
  if (it != storages_.end()) return it->second;
  PETREL_ASSIGN_OR_RETURN(absl::Span<const uint8_t> bytes, archive_->zip.read(member));
  storages_.emplace(member, bytes);
  return bytes;
}

absl::StatusOr<Payloads::View> Payloads::as_pairs(View view) {
  Sizes sizes = view.type.sizes;
  sizes.push_back(2);
  view.type = TensorType::contiguous(view.type.dtype, std::move(sizes));
  PETREL_RETURN_IF_ERROR(check_tensor_type(view.type));
  view.strides.push_back(1);
  bool fits = !__builtin_mul_overflow(view.offset, 2, &view.offset);
  for (size_t i = 0; i + 1 < view.strides.size(); ++i) {
    fits = fits && !__builtin_mul_overflow(view.strides[i], 2, &view.strides[i]);
  }
  if (fits) return view;
  return absl::InvalidArgumentError("strides or storage_offset of complex numbers are too large");
}

absl::StatusOr<Payloads::View> Payloads::read_view(const Json& meta) const {
  const Symbols no_symbols;
  View view;
  PETREL_ASSIGN_OR_RETURN(view.type, read_part_tensor_type(meta, no_symbols));
  PETREL_ASSIGN_OR_RETURN(Json sizes, meta.at("sizes"));
  PETREL_RETURN_IF_ERROR(read_sizes(sizes, no_symbols).status());
  PETREL_ASSIGN_OR_RETURN(Json strides, meta.at("strides"));
  PETREL_ASSIGN_OR_RETURN(view.strides, read_sizes(strides, no_symbols));
  PETREL_ASSIGN_OR_RETURN(Json offset, meta.at("storage_offset"));
  PETREL_ASSIGN_OR_RETURN(const SizeExpression place, no_symbols.resolve(offset));
  if (!place.is_constant()) return offset.error("varies, must be fixed");
  view.offset = place.constant();
  if (view.strides.size() != view.type.rank()) {
    return strides.error(
        absl::StrCat("has ", view.strides.size(), " items, must have ", view.type.rank()));
  }
  for (int64_t stride : view.strides) {
    if (stride < 0) return strides.error(absl::StrCat("has ", stride));
  }
  if (view.offset < 0) return offset.error(absl::StrCat("is ", view.offset));
  if (is_complex(meta)) return as_pairs(view);
  return view;
}

Payloads::Extent Payloads::extent_of(const std::string& member, const View& view) {
  if (view.type.numel() == 0) return {member, 0, 0};
  const auto item = static_cast<int64_t>(item_size(view.type.dtype));
  int64_t end = view.offset;
  bool fits = !__builtin_add_overflow(end, 1, &end);
  for (size_t i = 0; i < view.strides.size(); ++i) {
    int64_t reach = 0;
    fits = fits && !__builtin_mul_overflow(view.type.sizes[i] - 1, view.strides[i], &reach) &&
           !__builtin_add_overflow(end, reach, &end);
  }
  fits = fits && !__builtin_mul_overflow(end, item, &end);
  // Strides of a dense copy lie about it.
  if (!fits) return {member, 0, std::numeric_limits<int64_t>::max()};
  return {member, view.offset * item, end};
}

absl::StatusOr<Blob> Payloads::slice(const std::string& member, View view) {
  const Sizes& sizes = view.type.sizes;
  const std::string key = absl::StrCat(member, " ", to_string(view.type), " ",
                                       absl::StrJoin(view.strides, ","), " ", view.offset);
  const auto known = blobs_.find(key);
  if (known != blobs_.end()) return known->second;
  if (view.type.numel() == 0) return Blob();

  PETREL_ASSIGN_OR_RETURN(absl::Span<const uint8_t> bytes, storage(member));
  const auto error = [&](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat("member '", member, "' ", parts...));
  };
  if (bytes.empty()) {
    return error("is empty: the archive was saved without its weights");
  }
  const size_t item = item_size(view.type.dtype);
  bool contiguous = strides_are_contiguous(sizes, view.strides);
  // torch 2.9.0 could write a dense copy under the strides of the original.
  if (!contiguous && absl::StartsWith(torch_version_, "2.9.0") && view.offset == 0 &&
      bytes.size() == static_cast<uint64_t>(view.type.nbytes())) {
    contiguous = true;
  }
  // The place behind the last element, in elements and then in bytes.
  int64_t end = view.offset;
  bool fits = !__builtin_add_overflow(end, 1, &end);
  if (contiguous) {
    fits = fits && !__builtin_add_overflow(end, view.type.numel() - 1, &end);
  } else {
    for (size_t i = 0; i < sizes.size(); ++i) {
      int64_t reach = 0;
      fits = fits && !__builtin_mul_overflow(sizes[i] - 1, view.strides[i], &reach) &&
             !__builtin_add_overflow(end, reach, &end);
    }
  }
  fits = fits && !__builtin_mul_overflow(end, static_cast<int64_t>(item), &end);
  if (!fits || static_cast<uint64_t>(end) > bytes.size()) {
    return error("has ", bytes.size(), " bytes, ", to_string(view.type), " at offset ", view.offset,
                 " with strides [", absl::StrJoin(view.strides, ","), "] needs more");
  }
  const int64_t limit = std::max(kMaxExpandedBytes, static_cast<int64_t>(bytes.size()));
  if (view.type.nbytes() > limit) {
    return error("has ", bytes.size(), " bytes that expand to ", view.type.nbytes(),
                 ", the limit is ", limit);
  }
  const auto size = static_cast<size_t>(view.type.nbytes());
  const uint64_t most = kMaxTimes * archive_->file->bytes().size() + kMoreBytes;
  if (size > most - viewed_bytes_) {
    return error("is named so often that its views and those of others have more than ", most,
                 " bytes, the limit for this file");
  }
  viewed_bytes_ += size;
  const std::shared_ptr<const MappedFile> owner = archive_->file;
  const uint8_t* start = bytes.data() + static_cast<size_t>(view.offset) * item;
  // Readers of a Blob take it for an array of its element type.
  const bool aligned = reinterpret_cast<uintptr_t>(start) % item == 0;
  Blob blob;
  if (contiguous && aligned) {
    blob = Blob::view(absl::MakeConstSpan(start, size), owner);
  } else if (contiguous) {
    blob = Blob::produced(size, [start, size, owner](absl::Span<uint8_t> out) {
      std::memcpy(out.data(), start, size);
    });
  } else {
    blob = Blob::produced(size, [bytes, view, item, owner](absl::Span<uint8_t> out) {
      copy_strided(bytes, view.type.sizes, view.strides, view.offset, item, out.data());
    });
  }
  blobs_.emplace(key, blob);
  return blob;
}

absl::StatusOr<std::shared_ptr<Constant>> Payloads::load(Section section, const std::string& fqn,
                                                         Constant::Kind kind) {
  const auto it = metas_.find({section, fqn});
  if (it == metas_.end()) {
    return absl::InvalidArgumentError(absl::StrCat(folders_[section], archive_->name,
                                                   "_..._config.json has no tensor '", fqn, "'"));
  }
  const Json& meta = it->second;
  PETREL_ASSIGN_OR_RETURN(Json path, meta.at("path_name"));
  PETREL_ASSIGN_OR_RETURN(std::string file, path.text());
  const std::string member = absl::StrCat(folders_[section], file);
  if (const std::optional<Json> pickled = meta.find("use_pickle")) {
    PETREL_ASSIGN_OR_RETURN(bool use_pickle, pickled->boolean());
    if (use_pickle) {
      return absl::UnimplementedError(absl::StrCat("tensor '", fqn, "' is a pickle in member '",
                                                   member, "', which is not supported"));
    }
  }
  const std::optional<Json> tensor = meta.find("tensor_meta");
  if (!tensor) return meta.error("has no 'tensor_meta': it is not a tensor");
  const std::string place = absl::StrCat("tensor '", fqn, "'");
  absl::StatusOr<View> view = read_view(*tensor);
  if (!view.ok()) return annotate(view.status(), place);
  auto constant = std::make_shared<Constant>();
  constant->fqn = fqn;
  constant->kind = kind;
  constant->type = view->type;
  const Float8* const narrow = float8_of(*tensor);
  if (narrow != nullptr) {
    view->type = TensorType::contiguous(ScalarType::kByte, view->type.sizes);
  }
  absl::StatusOr<Blob> data = slice(member, *view);
  if (!data.ok()) return annotate(data.status(), place);
  constant->data = *std::move(data);
  if (narrow != nullptr) {
    const auto size = static_cast<size_t>(constant->type.nbytes());
    constant->data = Blob::produced(size, [narrow, bits = constant->data](absl::Span<uint8_t> out) {
      const Blob::Bytes pinned = bits.bytes();
      widen(*narrow, pinned.span(), out.data());
    });
  }
  extents_[fqn] = extent_of(member, *view);
  return constant;
}

}  // namespace petrel::exir
