// SPDX-License-Identifier: Apache-2.0
//
// Paths of the committed archives that tests of the importer read.
#ifndef PETREL_EXIR_IMPORT_TEST_FIXTURES_H_
#define PETREL_EXIR_IMPORT_TEST_FIXTURES_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace petrel::exir {

// Of //test/models, as a release of torch wrote it.
inline std::string shared_fixture(const std::string& name,
                                  const std::string& torch = "torch_2_13") {
  return absl::StrCat("test/models/fixtures/", torch, "/", name, ".pt2");
}

// Of this folder.
inline std::string own_fixture(const std::string& name) {
  return absl::StrCat("exir/import/testdata/", name, ".pt2");
}

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_TEST_FIXTURES_H_
