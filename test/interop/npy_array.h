// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files, as far as tensors need them: little-endian, C order,
// version 1.0 on writing, 1.0 to 3.0 on reading. Throws std::runtime_error
// that names the file.
//
//   NpyArray image = ReadNpy("image.npy");
//   WriteNpy("scores.npy", image);
//
// A host-side test tool: exceptions and heap are fine here.

#ifndef PETREL_TEST_INTEROP_NPY_ARRAY_H_
#define PETREL_TEST_INTEROP_NPY_ARRAY_H_

#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace petrel::interop {

struct NpyArray {
  std::string descr;  // "<f4", "|u1", ...
  std::vector<int64_t> shape;
  std::vector<char> bytes;  // numel * item size, row by row
};

inline size_t npy_item_size(const std::string& descr) {
  return descr.size() == 3 ? static_cast<size_t>(descr[2] - '0') : 0;
}

inline NpyArray ReadNpy(const std::string& path) {
  const auto fail = [&path](const std::string& why) {
    throw std::runtime_error(path + ": " + why);
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot be opened");
  std::vector<char> all((std::istreambuf_iterator<char>(file)), {});
  if (all.size() < 12 || std::string(all.data(), 6) != "\x93NUMPY") {
    fail("not a .npy file");
  }
  const auto byte = [&all](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(all[i]));
  };
  const bool wide = byte(6) >= 2;
  size_t header_size = byte(8) | byte(9) << 8;
  if (wide) header_size |= byte(10) << 16 | byte(11) << 24;
  const size_t start = wide ? 12 : 10;
  if (header_size > all.size() - start) fail("header reaches past the end");
  const std::string header(all.data() + start, header_size);

  NpyArray array;
  const size_t descr = header.find("'descr': '");
  const size_t shape = header.find("'shape': (");
  if (descr == std::string::npos || shape == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos) {
    fail("header is not of a C-ordered array: " + header);
  }
  array.descr = header.substr(descr + 10, header.find('\'', descr + 10) - descr - 10);
  size_t numel = 1;
  const size_t end = header.find(')', shape);
  for (size_t at = shape + 10; at < end;) {
    const size_t digit = header.find_first_of("0123456789", at);
    if (digit == std::string::npos || digit >= end) break;
    size_t used = 0;
    array.shape.push_back(std::stoll(header.substr(digit), &used));
    numel *= static_cast<size_t>(array.shape.back());
    at = digit + used;
  }
  const size_t item = npy_item_size(array.descr);
  if (item == 0 || array.descr[0] == '>') fail("dtype " + array.descr + " is not handled");
  array.bytes.assign(all.begin() + static_cast<ptrdiff_t>(start + header_size), all.end());
  if (array.bytes.size() != numel * item) {
    fail("has " + std::to_string(array.bytes.size()) + " data bytes, its shape needs " +
         std::to_string(numel * item));
  }
  return array;
}

inline void WriteNpy(const std::string& path, const NpyArray& array) {
  std::string header = "{'descr': '" + array.descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : array.shape) header += std::to_string(size) + ",";
  header += "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.put(static_cast<char>(header.size() & 0xff));
  file.put(static_cast<char>(header.size() >> 8));
  file << header;
  file.write(array.bytes.data(), static_cast<std::streamsize>(array.bytes.size()));
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace petrel::interop

#endif  // PETREL_TEST_INTEROP_NPY_ARRAY_H_
