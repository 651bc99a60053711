// SPDX-License-Identifier: Apache-2.0
#include "extension/project/devices.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/input/file_content.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;

// One line of sysfs, without what a terminal would not print.
std::string line_of(const fs::path& path) {
  const auto text = exir::read_file_content(path, 4096);
  if (!text.ok()) return "";
  std::string line(absl::StripAsciiWhitespace(*text));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  return line;
}

// Fills in what the USB device above a port tells.
void look_above(fs::path folder, SerialDevice* device) {
  std::error_code ignored;
  for (int level = 0; level < 8 && folder.has_relative_path(); ++level) {
    if (fs::exists(folder / "idVendor", ignored)) {
      device->usb = absl::StrCat(line_of(folder / "idVendor"), ":", line_of(folder / "idProduct"));
      device->serial = line_of(folder / "serial");
      device->description = std::string(absl::StripAsciiWhitespace(
          absl::StrCat(line_of(folder / "manufacturer"), " ", line_of(folder / "product"))));
      return;
    }
    folder = folder.parent_path();
  }
}

bool is_of(const exir::Board& board, const SerialDevice& device) {
  return board.usb.empty() ||
         std::find(board.usb.begin(), board.usb.end(), device.usb) != board.usb.end();
}

std::string shown(const std::vector<SerialDevice>& devices) {
  if (devices.empty()) return "none is plugged in";
  return absl::StrCat("there are ",
                      absl::StrJoin(devices, ", ", [](std::string* out, const SerialDevice& one) {
                        absl::StrAppend(out, one.port, " (", one.serial, ")");
                      }));
}

}  // namespace

std::vector<SerialDevice> list_devices(const std::string& sysfs) {
  std::vector<SerialDevice> devices;
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(sysfs) / "class" / "tty", ignored)) {
    const std::string name = entry.path().filename();
    // Others are consoles, and ports that are soldered to this machine.
    if (!absl::StartsWith(name, "ttyACM") && !absl::StartsWith(name, "ttyUSB")) continue;
    SerialDevice device;
    device.port = "/dev/" + name;
    const fs::path real = fs::canonical(entry.path() / "device", ignored);
    if (!ignored) look_above(real, &device);
    devices.push_back(std::move(device));
  }
  std::sort(devices.begin(), devices.end(),
            [](const SerialDevice& a, const SerialDevice& b) { return a.port < b.port; });
  return devices;
}

absl::StatusOr<SerialDevice> find_device(const exir::Board& board, const std::string& word,
                                         const std::vector<SerialDevice>& devices) {
  std::vector<SerialDevice> fitting;
  for (const SerialDevice& device : devices) {
    const bool is_named = word == device.serial || word == device.port;
    if (word.empty() ? is_of(board, device) : is_named) fitting.push_back(device);
  }
  if (fitting.size() == 1) return fitting[0];
  if (fitting.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no device ",
                                            word.empty() ? "" : absl::StrCat("'", word, "' "),
                                            "for board '", board.name, "': ", shown(devices)));
  }
  return absl::FailedPreconditionError(absl::StrCat("several devices may be board '", board.name,
                                                    "': ", shown(fitting),
                                                    "; --device says which, by serial number"));
}

}  // namespace petrel::extension
