// SPDX-License-Identifier: Apache-2.0
//
// Writes the definition of all_firmware() for the given files to stdout.
//
//   write_firmware runtime/micro/firmware/mps2/board.c > firmware.cc
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

int main(int argc, char** argv) {
  constexpr char kRoom[] = "runtime/micro/";
  std::map<std::string, std::string> texts;
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i];
    const size_t room = path.rfind(kRoom);
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (room == std::string::npos || text.empty()) {
      std::fprintf(stderr, "write_firmware: %s is empty or not in %s\n", path.c_str(), kRoom);
      return 1;
    }
    texts[path.substr(room + sizeof(kRoom) - 1)] = text;
  }
  std::printf(
      "#include \"extension/project/firmware_files.h\"\n\nnamespace petrel::extension {\n\n");
  std::printf("const std::vector<FirmwareFile>& all_firmware() {\n");
  std::printf("  static const auto* const kFiles = new std::vector<FirmwareFile>{\n");
  for (const auto& [path, text] : texts) {
    std::printf("      {\"%s\", R\"~~(%s)~~\"},\n", path.c_str(), text.c_str());
  }
  std::printf("  };\n  return *kFiles;\n}\n\n}  // namespace petrel::extension\n");
  return 0;
}
