// SPDX-License-Identifier: Apache-2.0
#include "extension/project/firmware_files.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::extension {
namespace {

struct Family {
  absl::string_view name;
  std::vector<absl::string_view> folders;
};

const std::vector<Family>& families() {
  static const auto* const kFamilies = new std::vector<Family>{
      {"generic", {"firmware/generic"}},
      {"host", {"firmware/host"}},
      {"mps2", {"firmware/mps2", "firmware/cmsdk", "firmware/cortex_m", "firmware/semihosting"}},
      {"mps3", {"firmware/mps3", "firmware/cmsdk", "firmware/cortex_m", "firmware/semihosting"}},
      {"nrf51", {"firmware/nrf51", "firmware/cortex_m", "firmware/semihosting"}},
      {"riscv_virt", {"firmware/riscv_virt", "firmware/semihosting"}},
      {"stm32f1", {"firmware/stm32f1", "firmware/cortex_m", "firmware/semihosting"}},
  };
  return *kFamilies;
}

// What all have.
constexpr absl::string_view kCommon[] = {"firmware/app", "device", "model"};

}  // namespace

absl::string_view FirmwareFile::name() const { return path.substr(path.rfind('/') + 1); }

absl::string_view FirmwareFile::folder() const { return path.substr(0, path.rfind('/')); }

absl::StatusOr<std::vector<FirmwareFile>> firmware_of(absl::string_view family) {
  const auto row = std::find_if(families().begin(), families().end(),
                                [&](const Family& one) { return one.name == family; });
  if (row == families().end()) {
    return absl::NotFoundError(
        absl::StrCat("family: is '", family, "', must be one of ",
                     absl::StrJoin(families(), ", ", [](std::string* out, const Family& one) {
                       absl::StrAppend(out, one.name);
                     })));
  }
  std::vector<absl::string_view> folders = row->folders;
  folders.insert(folders.end(), std::begin(kCommon), std::end(kCommon));
  std::vector<FirmwareFile> files;
  for (const FirmwareFile& file : all_firmware()) {
    if (std::find(folders.begin(), folders.end(), file.folder()) != folders.end()) {
      files.push_back(file);
    }
  }
  return files;
}

}  // namespace petrel::extension
