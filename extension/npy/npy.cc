// SPDX-License-Identifier: Apache-2.0
#include "extension/npy/npy.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "exir/annotate.h"
#include "exir/input/file_content.h"
#include "exir/output/output_files.h"
#include "exir/status_macros.h"

namespace petrel::extension {

using runtime::ScalarType;

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;

struct TypeName {
  const char* descr;
  ScalarType type;
};
constexpr TypeName kTypes[] = {
    {"<f4", ScalarType::Float},    {"<f8", ScalarType::Double},   {"<f2", ScalarType::Half},
    {"<i8", ScalarType::Long},     {"<i4", ScalarType::Int},      {"<i2", ScalarType::Short},
    {"|i1", ScalarType::Char},     {"|u1", ScalarType::Byte},     {"|b1", ScalarType::Bool},
    {"<u2", ScalarType::UInt16},   {"<u4", ScalarType::UInt32},   {"<u8", ScalarType::UInt64},
    {"<V2", ScalarType::BFloat16}, {"|V2", ScalarType::BFloat16},
};

constexpr size_t kMaxRank = 64;  // NumPy's

absl::Status bad(const std::string& path, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", problem));
}

// The text behind `'key':` in the header's dictionary.
std::optional<absl::string_view> find_field(absl::string_view header, absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return std::nullopt;
  return absl::StripLeadingAsciiWhitespace(header.substr(at + key.size() + 3));
}

absl::StatusOr<std::vector<int64_t>> parse_shape(const std::string& path, absl::string_view text) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == absl::string_view::npos) {
    return bad(path, "its shape is not a tuple");
  }
  std::vector<int64_t> shape;
  for (absl::string_view part : absl::StrSplit(text.substr(1, end - 1), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 0) {
      return bad(path, absl::StrCat("its shape has a size '", part, "'"));
    }
    if (shape.size() == kMaxRank) {
      return bad(path, absl::StrCat("its shape has more than ", kMaxRank, " dims"));
    }
    shape.push_back(size);
  }
  return shape;
}

// Data whose first dim is the innermost, in the order where the last one is.
std::vector<uint8_t> in_c_order(const std::vector<int64_t>& shape, size_t element,
                                const std::vector<uint8_t>& data) {
  std::vector<uint8_t> ordered(data.size());
  std::vector<size_t> strides;
  size_t stride = element;
  for (const int64_t size : shape) {
    strides.push_back(stride);
    stride *= static_cast<size_t>(size);
  }
  std::vector<int64_t> index(shape.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to < ordered.size(); to += element) {
    std::memcpy(&ordered[to], &data[from], element);
    for (size_t dim = shape.size(); dim-- != 0;) {
      from += strides[dim];
      if (++index[dim] < shape[dim]) break;
      from -= strides[dim] * static_cast<size_t>(shape[dim]);
      index[dim] = 0;
    }
  }
  return ordered;
}

}  // namespace

absl::StatusOr<NpyArray> read_npy(const std::string& path) {
  const auto content = exir::read_file_content(path, exir::kMaxContentBytes);
  if (!content.ok()) return exir::annotate(content.status(), path);
  return parse_npy(*content, path);
}

absl::StatusOr<NpyArray> parse_npy(absl::string_view bytes, const std::string& path) {
  if (bytes.size() < kMagicSize + 4 || std::memcmp(bytes.data(), kMagic, kMagicSize) != 0) {
    return bad(path, "is not an .npy file");
  }
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  const size_t major = byte(6);
  if (major < 1 || major > 3) {
    return bad(path, absl::StrCat("has .npy version ", major, ", must be 1 to 3"));
  }
  size_t start = kMagicSize + 4;
  size_t length = byte(8) | byte(9) << 8;
  if (major >= 2) {
    if (bytes.size() < kMagicSize + 6) return bad(path, "ends inside its header");
    length |= byte(10) << 16 | byte(11) << 24;
    start += 2;
  }
  if (length > bytes.size() - start) return bad(path, "ends inside its header");
  const absl::string_view header(bytes.data() + start, length);

  const auto descr = find_field(header, "descr");
  const auto order = find_field(header, "fortran_order");
  const auto shape = find_field(header, "shape");
  if (!descr || !order || !shape) return bad(path, "has a header without dtype, order or shape");
  const bool is_fortran = order->substr(0, 4) == "True";
  if (!is_fortran && order->substr(0, 5) != "False") {
    return bad(path, "has a fortran_order that is neither True nor False");
  }
  NpyArray array;
  const TypeName* known = nullptr;
  for (const TypeName& type : kTypes) {
    if (descr->substr(0, 5) == absl::StrCat("'", type.descr, "'")) known = &type;
  }
  if (known == nullptr) {
    return bad(path, absl::StrCat("has dtype ", descr->substr(0, descr->find(',')),
                                  ", which is not supported"));
  }
  array.type = known->type;
  PETREL_ASSIGN_OR_RETURN(array.shape, parse_shape(path, *shape));
  size_t wanted = runtime::element_size(array.type);
  for (const int64_t size : array.shape) {
    if (__builtin_mul_overflow(wanted, static_cast<size_t>(size), &wanted)) {
      return bad(path, "has a shape of more than 2^64 bytes");
    }
  }
  const size_t have = bytes.size() - start - length;
  if (have != wanted) {
    return bad(path, absl::StrCat("has ", have, " bytes of data, its shape asks for ", wanted));
  }
  array.data.assign(bytes.end() - static_cast<ptrdiff_t>(wanted), bytes.end());
  if (is_fortran) {
    array.data = in_c_order(array.shape, runtime::element_size(array.type), array.data);
  }
  return array;
}

absl::Status write_npy(const std::string& path, const NpyArray& array) {
  const char* descr = nullptr;
  for (const TypeName& type : kTypes) {
    if (descr == nullptr && type.type == array.type) descr = type.descr;
  }
  if (descr == nullptr) {
    return bad(path, absl::StrCat("elements of type ", runtime::to_string(array.type),
                                  " have no .npy form"));
  }
  std::string shape = "(";
  for (const int64_t size : array.shape) absl::StrAppend(&shape, size, ", ");
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.pop_back();
  std::string header =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, "), }");
  // The data starts at a multiple of 64.
  while ((kMagicSize + 4 + header.size() + 1) % 64 != 0) header.push_back(' ');
  header.push_back('\n');

  std::vector<uint8_t> bytes(kMagic, kMagic + kMagicSize);
  for (const size_t byte : {size_t{1}, size_t{0}, header.size() & 255, header.size() >> 8}) {
    bytes.push_back(static_cast<uint8_t>(byte));
  }
  bytes.insert(bytes.end(), header.begin(), header.end());
  exir::OutputFiles files;
  PETREL_ASSIGN_OR_RETURN(const exir::ByteSink sink, files.open(path));
  PETREL_RETURN_IF_ERROR(sink(bytes));
  PETREL_RETURN_IF_ERROR(sink(array.data));
  return files.publish();
}

}  // namespace petrel::extension
