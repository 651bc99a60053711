// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/calibration_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "extension/npy/npy.h"

namespace petrel::extension {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NpyArray numbers(std::vector<int64_t> shape) {
  NpyArray array;
  array.type = runtime::ScalarType::Byte;
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  for (size_t i = 0; i < count; ++i) array.data.push_back(static_cast<uint8_t>(i));
  array.shape = std::move(shape);
  return array;
}

absl::StatusOr<CalibrationFile> open(std::vector<int64_t> shape, std::vector<int64_t> sizes,
                                     bool is_fixed) {
  const std::string path = testing::TempDir() + "/samples.npy";
  const absl::Status written = write_npy(path, numbers(std::move(shape)));
  if (!written.ok()) return written;
  return CalibrationFile::open(path,
                               {{"x", runtime::ScalarType::Byte, std::move(sizes), is_fixed}});
}

TEST(CalibrationData, ArraysOfTheRankOfAFixedInputHoldItSeveralTimes) {
  const auto file = open({6, 2}, {2, 2}, true);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->size(), 3);
  EXPECT_THAT(file->sample(1)[0].shape, ElementsAre(2, 2));
  EXPECT_THAT(file->sample(1)[0].data, ElementsAre(4, 5, 6, 7));
}

TEST(CalibrationData, WhatAVaryingInputTakesIsOneSample) {
  const auto file = open({3, 2}, {4, 2}, false);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->size(), 1);
  EXPECT_THAT(file->sample(0)[0].shape, ElementsAre(3, 2));
}

TEST(CalibrationData, MoreRowsThanAVaryingInputTakesAreASampleEach) {
  const auto file = open({6, 2}, {4, 3}, false);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->size(), 6);
  EXPECT_THAT(file->sample(4)[0].shape, ElementsAre(1, 2));
  EXPECT_THAT(file->sample(4)[0].data, ElementsAre(8, 9));
}

TEST(CalibrationData, RowsThatAreTooLongAreRefused) {
  const auto file = open({6, 4}, {4, 3}, false);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.status().message(),
              HasSubstr("has shape [6,4], the input takes [4,3], or as many of these"));
}

TEST(CalibrationData, SaysWhatAFileWithoutArraysLacks) {
  const std::string path = testing::TempDir() + "/empty.npz";
  std::ofstream(path, std::ios::binary) << "PK\5\6" << std::string(18, '\0');
  const auto file = CalibrationFile::open(path, {{"x", runtime::ScalarType::Byte, {2}, true}});
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.status().message(),
              HasSubstr("empty.npz: has no array 'x' or 'arr_0' for input 0"));
}

}  // namespace
}  // namespace petrel::extension
