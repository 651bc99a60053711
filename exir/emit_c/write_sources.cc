// SPDX-License-Identifier: Apache-2.0
//
// Writes a function that gives the texts of files of runtime/micro to stdout. TYPE is a struct of a
// path below it and a text, and HEADER declares both.
//
//   write_sources HEADER NAMESPACE TYPE FUNCTION runtime/micro/math/exp.h ... > embedded.cc
//   absl::Span<const TYPE> FUNCTION();
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

int main(int argc, char** argv) {
  constexpr char kRoom[] = "runtime/micro/";
  constexpr int kFirstFile = 5;
  if (argc <= kFirstFile) {
    std::fprintf(stderr, "usage: write_sources HEADER NAMESPACE TYPE FUNCTION FILE...\n");
    return 2;
  }
  std::map<std::string, std::string> texts;
  for (int i = kFirstFile; i < argc; ++i) {
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
  const char* const type = argv[3];
  std::printf("#include \"%s\"\n\nnamespace %s {\nnamespace {\n\n", argv[1], argv[2]);
  std::printf("constexpr %s kTexts[] = {\n", type);
  for (const auto& [path, text] : texts) {
    std::printf("    {\"%s\", R\"~~(%s)~~\"},\n", path.c_str(), text.c_str());
  }
  std::printf("};\n\n}  // namespace\n\n");
  std::printf("absl::Span<const %s> %s() { return kTexts; }\n\n", type, argv[4]);
  std::printf("}  // namespace %s\n", argv[2]);
  return 0;
}
