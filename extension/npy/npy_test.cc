// SPDX-License-Identifier: Apache-2.0
#include "extension/npy/npy.h"

#include <cstring>
#include <fstream>

#include "gtest/gtest.h"

namespace petrel::extension {
namespace {

using runtime::ScalarType;

std::string path_of(const std::string& name) { return testing::TempDir() + "/" + name; }

std::string write(const std::string& bytes) {
  const std::string path = path_of("case.npy");
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// numpy.save("x.npy", numpy.array([[1.5, -2.0]], dtype=numpy.float32)).
std::string numpy_file() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  header.resize(117, ' ');
  header.push_back('\n');
  std::string bytes =
      std::string("\x93NUMPY\x01", 7) + '\0' + static_cast<char>(header.size()) + '\0';
  const float data[] = {1.5f, -2.0f};
  return bytes + header + std::string(reinterpret_cast<const char*>(data), sizeof(data));
}

TEST(Npy, ReadsWhatNumpyWrites) {
  const auto array = read_npy(write(numpy_file()));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->type, ScalarType::Float);
  EXPECT_EQ(array->shape, (std::vector<int64_t>{1, 2}));
  float data[2];
  ASSERT_EQ(array->data.size(), sizeof(data));
  std::memcpy(data, array->data.data(), sizeof(data));
  EXPECT_EQ(data[1], -2.0f);
}

TEST(Npy, RoundTripsShapesAndTypes) {
  const std::vector<std::vector<int64_t>> shapes = {{}, {3}, {2, 3}, {0}, {1, 2, 3, 4}};
  for (const auto& shape : shapes) {
    for (const ScalarType type : {ScalarType::Float, ScalarType::Long, ScalarType::Bool,
                                  ScalarType::Half, ScalarType::BFloat16, ScalarType::UInt64}) {
      NpyArray array;
      array.type = type;
      array.shape = shape;
      size_t numel = 1;
      for (const int64_t s : shape) numel *= static_cast<size_t>(s);
      array.data.assign(numel * runtime::element_size(type), 7);
      const std::string path = path_of("round.npy");
      ASSERT_TRUE(write_npy(path, array).ok());
      const auto back = read_npy(path);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->type, type);
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(back->data, array.data);
    }
  }
}

TEST(Npy, RejectsDamage) {
  const std::string good = numpy_file();
  for (size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(read_npy(write(good.substr(0, i))).ok()) << i;
  }
  for (size_t i = 0; i < good.size() - 8; ++i) {
    for (const char c : {'\0', '\xff', '9'}) {
      std::string damaged = good;
      damaged[i] = c;
      (void)read_npy(write(damaged));  // must not crash
    }
  }
  EXPECT_FALSE(read_npy(write(good + "x")).ok());
  EXPECT_FALSE(read_npy("/nonexistent.npy").ok());
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string bytes = numpy_file();
  bytes.replace(bytes.find(from), from.size(), to);
  return bytes;
}

// A file of version `major` whose header is said to have `length` bytes.
std::string of_version(char major, uint32_t length, const std::string& header) {
  std::string bytes = std::string("\x93NUMPY") + major + '\0';
  for (int i = 0; i < (major >= 2 ? 4 : 2); ++i) {
    bytes.push_back(static_cast<char>(length >> (8 * i)));
  }
  return bytes + header;
}

// Every check of the reader has a file that nothing else refuses.
TEST(Npy, NamesTheProblem) {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }";
  const auto size = static_cast<uint32_t>(header.size());
  ASSERT_TRUE(read_npy(write(of_version(3, size, header))).ok());
  std::string deep = "{'descr': '|u1', 'fortran_order': True, 'shape': (";
  for (int i = 0; i < 65; ++i) deep += "1,";
  deep += "), }";
  const struct {
    const char* problem;
    std::string bytes;
  } kBad[] = {
      {"more than 64 dims", of_version(3, static_cast<uint32_t>(deep.size()), deep)},
      {"'>f4'", replaced("<f4", ">f4")},
      {"fortran_order", replaced("False", "maybe")},
      {"is not an .npy file", replaced("NUMPY", "NUMPX")},
      {"version 0", of_version(0, size, header)},
      {"version 4", of_version(4, size, header)},
      {"ends inside its header", of_version(1, size + 1, header)},
      {"ends inside its header", of_version(2, 0xffffffff, header)},
      {"ends inside its header", of_version(2, 0, "").substr(0, 11)},
      {"without dtype, order or shape", replaced("'descr'", "'descx'")},
      {"without dtype, order or shape", replaced("'fortran_order'", "'fortran_ordex'")},
      {"without dtype, order or shape", replaced("'shape'", "'shapx'")},
      {"not a tuple", of_version(1, size - 6, header.substr(0, size - 6))},
      {"not a tuple", replaced("(1, 2)", "[1, 2]")},
      {"not a tuple", replaced("(1, 2), }", "(1, 2 , }")},
      {"size 'two'", replaced("(1, 2), }", "(1,two) }")},
      {"size '-2'", replaced("(1, 2), }", "(1,-2) }")},
      {"more than 2^64 bytes", replaced("(1, 2), }", "(4611686018427387904,8) }")},
      {"asks for", replaced("(1, 2)", "(1, 3)")},
  };
  for (const auto& bad : kBad) {
    const auto read = read_npy(write(bad.bytes));
    ASSERT_FALSE(read.ok()) << bad.problem;
    EXPECT_NE(read.status().message().find(bad.problem), std::string::npos)
        << bad.problem << " in " << read.status();
  }
}

TEST(Npy, NamesAFileThatIsMissingOrAFolder) {
  EXPECT_EQ(read_npy("/nonexistent.npy").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(read_npy("/").status().message(), "/: is a folder");
  EXPECT_EQ(read_npy("/dev/zero").status().message(), "/dev/zero: is neither a file nor a pipe");
  EXPECT_EQ(read_npy("/proc/self/mem").status().message(), "/proc/self/mem: Input/output error");
}

TEST(Npy, RefusesToWriteElementsThatNumpyLacks) {
  const auto written = write_npy(path_of("x.npy"), NpyArray{ScalarType::QInt8, {0}, {}});
  EXPECT_EQ(written.code(), absl::StatusCode::kInvalidArgument);
}

// numpy.save("x.npy", numpy.asfortranarray(numpy.arange(24, dtype="u1").reshape(2, 3, 4))).
TEST(Npy, PutsFortranOrderIntoCOrder) {
  std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }";
  header.resize(117, ' ');
  std::string bytes = std::string("\x93NUMPY\x01", 7) + '\0' + '\x76' + '\0' + header + '\n';
  for (const int byte :
       {0, 12, 4, 16, 8, 20, 1, 13, 5, 17, 9, 21, 2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23}) {
    bytes.push_back(static_cast<char>(byte));
  }
  const auto array = read_npy(write(bytes));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3, 4}));
  for (size_t i = 0; i < 24; ++i) ASSERT_EQ(array->data.at(i), i);
}

TEST(Npy, LeavesNothingWhereItCannotWrite) {
  EXPECT_FALSE(write_npy("/nonexistent/y.npy", NpyArray{ScalarType::Float, {0}, {}}).ok());
}

}  // namespace
}  // namespace petrel::extension
