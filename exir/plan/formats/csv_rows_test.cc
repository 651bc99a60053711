// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/formats/csv_rows.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<std::vector<CsvRow>> read_csv_rows(const std::string& text) {
  CsvReader reader(text);
  std::vector<CsvRow> rows;
  for (;;) {
    CsvRow row;
    const absl::StatusOr<bool> is_row = reader.next(&row);
    if (!is_row.ok()) return is_row.status();
    if (!*is_row) return rows;
    rows.push_back(row);
  }
}

TEST(CsvRowsTest, TakesCellsApart) {
  absl::StatusOr<std::vector<CsvRow>> rows =
      read_csv_rows("a, b c ,,\"x, \"\"y\"\"\"\r\n\n\"two\nlines\" , 1\nlast");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_THAT((*rows)[0].cells, ElementsAre("a", "b c", "", "x, \"y\""));
  EXPECT_THAT((*rows)[1].cells, ElementsAre("two\nlines", "1"));
  EXPECT_THAT((*rows)[2].cells, ElementsAre("last"));
  EXPECT_EQ((*rows)[1].line, 3u);
  EXPECT_EQ((*rows)[2].line, 5u);
}

TEST(CsvRowsTest, ErrorsNameTheLine) {
  EXPECT_EQ(read_csv_rows("a\n\"b\nc").status().message(),
            "line 2: cell \"b\" has no closing quote");
  EXPECT_EQ(read_csv_rows("a\nb\"c").status().message().substr(0, 8), "line 2: ");
}

TEST(CsvRowsTest, ARowOfCommasTakesNoMemory) {
  EXPECT_EQ(read_csv_rows("a\n" + std::string(99, ',')).value()[1].cells.size(), 100u);
  EXPECT_EQ(read_csv_rows("a\n" + std::string(100'000'000, ',')).status().message(),
            "line 2: has more than 100 cells");
}

TEST(CsvRowsTest, EmptyTextHasNoRows) {
  for (const char* text : {"", " ", "\n", " \n\t\n "}) EXPECT_EQ(read_csv_rows(text)->size(), 0u);
}

TEST(CsvRowsTest, CellsReadBackTheSame) {
  const std::string nul("a\0b", 3);
  for (const std::string& text :
       {std::string(), std::string(" a "), std::string("a,b"), std::string("\""),
        std::string("x\r\ny"), std::string("\xff\xfe"), nul, std::string(1'000'000, '"')}) {
    absl::StatusOr<std::vector<CsvRow>> rows = read_csv_rows(csv_cell(text) + ",z");
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_THAT((*rows)[0].cells, ElementsAre(text, "z"));
  }
}

}  // namespace
}  // namespace petrel::exir::plan
