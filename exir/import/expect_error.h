// SPDX-License-Identifier: Apache-2.0
//
// For tests: the importer refuses the archive at a path in one line that begins with the path.
//
//   expect_error(archive.save("bad_dtype"), "is 99, which is not a dtype");
#ifndef PETREL_EXIR_IMPORT_EXPECT_ERROR_H_
#define PETREL_EXIR_IMPORT_EXPECT_ERROR_H_

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "exir/import/import.h"

namespace petrel::exir {

inline void expect_error(const std::string& path, const std::string& message) {
  const absl::StatusOr<Method> imported = import_pt2(path, "forward");
  ASSERT_FALSE(imported.ok()) << path << " must say: " << message;
  const std::string text(imported.status().message());
  EXPECT_TRUE(absl::StartsWith(text, path + ": ")) << text;
  EXPECT_TRUE(absl::StrContains(text, message)) << text << "\nmust say: " << message;
  EXPECT_FALSE(absl::StrContains(text, '\n')) << text;
}

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_EXPECT_ERROR_H_
