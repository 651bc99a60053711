// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/kernel_variants.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/emit_c/names.h"
#include "exir/emit_c/sources.h"
#include "exir/ir/blob.h"

namespace petrel::exir::emit_c {
namespace {

constexpr char kConvolution[] = "petrel::int8_convolution.out";
constexpr char kLinear[] = "petrel::int8_linear.out";

constexpr unsigned bit(Target target) { return 1u << static_cast<unsigned>(target); }
constexpr unsigned kDsp = bit(Target::kCortexM4);
constexpr unsigned kVectors = bit(Target::kCortexM55) | bit(Target::kX86_64) | bit(Target::kArm64);
constexpr unsigned kPlain = bit(Target::kGeneric) | bit(Target::kRv32);
constexpr unsigned kNone = 0;

int64_t words_of(const Int8Product& product) { return (product.depth() + 3) / 4; }

bool always(const Int8Product&) { return true; }

bool is_dense(const Int8Product& product) { return product.is_signed() && product.groups == 1; }

bool is_signed_depthwise(const Int8Product& product) {
  return product.is_signed() && product.is_depthwise();
}

// Four channels are a word, and rows of the input follow one another.
bool has_channel_words(const Int8Product& product) {
  return is_signed_depthwise(product) && product.groups % 4 == 0 && product.dilation_height == 1 &&
         product.dilation_width == 1;
}

bool is_signed(const Int8Product& product) { return product.is_signed(); }

int64_t none(const Int8Product&) { return 0; }

// Pairs of two places, and room for the levels of one.
int64_t pairs_of_places(const Int8Product& product) { return 5 * 4 * words_of(product); }

int64_t words_of_places(const Int8Product& product) { return 2 * 4 * words_of(product); }

int64_t levels_of_place(const Int8Product& product) { return product.depth(); }

// Weights of four channels, and as many rows as the kernel is high, as pairs.
int64_t ring_of_rows(const Int8Product& product) {
  const int64_t width = (product.out_width - 1) * product.stride_width + product.kernel_width;
  return 8 * (product.taps() + product.kernel_height * width);
}

constexpr VariantRow kRows[] = {
    {"depthwise-smla", kConvolution, kDsp | bit(Target::kCortexM55),
     "kernels/int8_pairs_depthwise.h", Packing::kTapWords, has_channel_words, ring_of_rows,
     AccessOrder::kFourChannels,
     "i8, a filter for each channel, channels a multiple of 4, no dilation"},
    {"im2col-smlad", kConvolution, kDsp, "kernels/int8_pairs_convolution.h", Packing::kPairWords,
     is_dense, pairs_of_places, AccessOrder::kPlaces, "i8, one group"},
    {"im2col-words", kConvolution, kNone, "kernels/int8_words_convolution.h", Packing::kPairWords,
     is_dense, words_of_places, AccessOrder::kPlaces, "i8, one group"},
    {"depthwise-channels", kConvolution, kVectors | kPlain | kDsp, "kernels/int8_taps_depthwise.h",
     Packing::kTaps, is_signed_depthwise, none, AccessOrder::kSixteenTaps,
     "i8, a filter for each channel"},
    {"im2col-dot", kConvolution, kVectors | kPlain, "kernels/int8_rows_convolution.h",
     Packing::kRows, is_dense, levels_of_place, AccessOrder::kFourFilters, "i8, one group"},
    {"direct", kConvolution, kNone, "kernels/int8_convolution.h", Packing::kAsStored, always, none,
     AccessOrder::kUnknown, "nothing"},
    {"quad-smlad", kLinear, kDsp, "kernels/int8_pairs_linear.h", Packing::kQuadWords, is_signed,
     none, AccessOrder::kUnknown, "i8"},
    {"dot", kLinear, kVectors | kPlain, "kernels/int8_rows_linear.h", Packing::kRows, is_signed,
     none, AccessOrder::kUnknown, "i8"},
    {"direct", kLinear, kNone, "kernels/int8_linear.h", Packing::kAsStored, always, none,
     AccessOrder::kUnknown, "nothing"},
};

constexpr char kRowWords[] = "im2col-words";

}  // namespace

absl::Span<const VariantRow> variant_rows() { return kRows; }

absl::string_view kernel_of(const Int8Product& product) {
  return product.is_linear ? kLinear : kConvolution;
}

bool fits(const VariantRow& row, const Int8Product& product) {
  return row.kernel == kernel_of(product) && row.fits(product) &&
         (row.packing == Packing::kAsStored || product.takes_offsets());
}

const VariantRow* choose_variant(const Int8Product& product, Target target) {
  const VariantRow* last = nullptr;
  for (const VariantRow& row : kRows) {
    if (row.kernel != kernel_of(product)) continue;
    if ((row.targets & bit(target)) != 0 && fits(row, product)) return &row;
    last = &row;
  }
  return last;
}

const VariantRow* choose_row_variant(const Int8Product& product, Target target) {
  const VariantRow* row = choose_variant(product, target);
  const auto words = std::find_if(std::begin(kRows), std::end(kRows), [](const VariantRow& other) {
    return absl::string_view(other.name) == kRowWords;
  });
  if ((bit(target) & kDsp) != 0 && fits(*words, product)) row = words;
  return row->order == AccessOrder::kUnknown ? nullptr : row;
}

bool is_c_name(const std::string& name) { return sanitized(name) == name && !is_taken(name); }

bool is_variant(const std::string& name) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const VariantRow& row) { return row.name == name; });
}

std::string variants_digest() {
  std::string text;
  for (const Source& source : all_sources()) {
    if (absl::StartsWith(source.path, "kernels/int8_")) {
      absl::StrAppend(&text, source.path, "\n", source.text);
    }
  }
  return to_hex(sha256_of({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
}

const char* name_of(Target target) { return kTargetNames[static_cast<size_t>(target)]; }

}  // namespace petrel::exir::emit_c
