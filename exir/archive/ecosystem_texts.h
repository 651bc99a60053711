// SPDX-License-Identifier: Apache-2.0
//
// What build systems of firmware want beside the sources of a library, each in its own file.
//
//   CMakeLists.txt, Makefile                 any project
//   zephyr/module.yml, CMakeLists.txt, Kconfig   a module of Zephyr
//   library.properties                       an Arduino library
//   library.json                             PlatformIO
//   Petrel.NAME.pdsc                         a CMSIS pack
#ifndef PETREL_EXIR_ARCHIVE_ECOSYSTEM_TEXTS_H_
#define PETREL_EXIR_ARCHIVE_ECOSYSTEM_TEXTS_H_

#include <map>
#include <string>
#include <vector>

namespace petrel::exir {

// What is packed, as far as these files tell of it.
struct Packed {
  std::string name;                  // "kws"
  std::string version;               // "0.1.0+1a2b3c4d"; what is behind the '+' is of the model
  std::vector<std::string> sources;  // names in src/ of what is compiled
  std::vector<std::string> headers;  // names in src/
  bool fast_math = false;
  bool has_selftest = true;
};

// By path in the archive.
std::map<std::string, std::string> ecosystem_texts(const Packed& packed);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_ARCHIVE_ECOSYSTEM_TEXTS_H_
