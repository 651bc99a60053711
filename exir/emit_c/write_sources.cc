// SPDX-License-Identifier: Apache-2.0
//
// Writes the definition of all_sources() for the given files to stdout.
//
//   write_sources runtime/micro/math/exp.h runtime/micro/kernels/map.h > embedded.cc
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
      std::fprintf(stderr, "write_sources: %s is empty or not in %s\n", path.c_str(), kRoom);
      return 1;
    }
    texts[path.substr(room + sizeof(kRoom) - 1)] = text;
  }
  std::printf(
      "#include \"exir/emit_c/sources.h\"\n\nnamespace petrel::exir::emit_c {\nnamespace {\n\n");
  std::printf("constexpr Source kSources[] = {\n");
  for (const auto& [path, text] : texts) {
    std::printf("    {\"%s\", R\"~~(%s)~~\"},\n", path.c_str(), text.c_str());
  }
  std::printf("};\n\n}  // namespace\n\n");
  std::printf("absl::Span<const Source> all_sources() { return kSources; }\n\n");
  std::printf("}  // namespace petrel::exir::emit_c\n");
  return 0;
}
