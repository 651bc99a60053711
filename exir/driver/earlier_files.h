// SPDX-License-Identifier: Apache-2.0
//
// What an earlier run of gen-c left in a folder: a build that takes all files there would compile
// them, too, and a library would be that of another model. Its manifest.json names its files.
//
//   const EarlierFiles earlier = EarlierFiles::read("kws_c", "kws");   // before the new manifest
//   ...
//   std::vector<std::string> removed = earlier.remove_but({"kws.c", "kws.h"});
//
// Only files in the folder itself go, that still have the bytes which that run wrote. What the
// compiler made of them says so: a library holds the manifest, an object the digest of the model.
#ifndef PETREL_EXIR_DRIVER_EARLIER_FILES_H_
#define PETREL_EXIR_DRIVER_EARLIER_FILES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

namespace petrel::exir {

class EarlierFiles {
 public:
  // None where there is no manifest, or one of another package: two may share a folder.
  static EarlierFiles read(const std::string& folder, const std::string& package);

  // The names of those that are gone.
  std::vector<std::string> remove_but(const std::set<std::string>& written) const;

 private:
  struct File {
    std::string digest;
    std::string held;  // of what has no digest there
  };
  bool is_unchanged(const std::string& name, const File& file) const;

  std::string folder_;
  std::map<std::string, File> files_;  // by name
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_EARLIER_FILES_H_
