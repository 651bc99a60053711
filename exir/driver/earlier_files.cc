// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/earlier_files.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/input/file_content.h"
#include "exir/ir/blob.h"
#include "exir/json/json_text.h"

namespace petrel::exir {
namespace {

namespace fs = std::filesystem;

constexpr char kManifest[] = "manifest.json";
constexpr size_t kDigestLength = 64;

// Nothing of another folder.
bool is_plain(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name != kManifest &&
         name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

std::string text_at(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

EarlierFiles EarlierFiles::read(const std::string& folder, const std::string& package) {
  EarlierFiles earlier;
  earlier.folder_ = folder;
  const std::string path = fs::path(folder) / kManifest;
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return earlier;
  const absl::StatusOr<std::string> text = read_file_content(path, kMaxContentBytes);
  if (!text.ok()) return earlier;
  const absl::StatusOr<nlohmann::json> json = parse_unique_json(*text);
  if (!json.ok() || !json->is_object() || !json->contains("files")) return earlier;
  if (text_at(*json, "name") != package) return earlier;
  const nlohmann::json& files = (*json)["files"];
  if (!files.is_object()) return earlier;
  for (const auto& [name, digest] : files.items()) {
    if (is_plain(name) && digest.is_string()) earlier.files_[name] = {digest, ""};
  }
  const std::string digest = text_at(*json, "sha256");
  if (digest.size() == kDigestLength && is_plain(package)) {
    earlier.files_[absl::StrCat("lib", package, ".so")] = {"", *text};
    earlier.files_[absl::StrCat(package, ".o")] = {"", digest};
  }
  return earlier;
}

bool EarlierFiles::is_unchanged(const std::string& name, const File& file) const {
  const fs::path path = fs::path(folder_) / name;
  std::error_code failed;
  if (fs::symlink_status(path, failed).type() != fs::file_type::regular) return false;
  const absl::StatusOr<std::string> bytes = read_file_content(path, kMaxContentBytes);
  if (!bytes.ok()) return false;
  if (!file.held.empty()) return absl::StrContains(*bytes, file.held);
  return file.digest ==
         to_hex(sha256_of({reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()}));
}

std::vector<std::string> EarlierFiles::remove_but(const std::set<std::string>& written) const {
  std::vector<std::string> removed;
  for (const auto& [name, file] : files_) {
    if (written.count(name) > 0 || !is_unchanged(name, file)) continue;
    std::error_code failed;
    if (fs::remove(fs::path(folder_) / name, failed)) removed.push_back(name);
  }
  return removed;
}

}  // namespace petrel::exir
