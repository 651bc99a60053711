// SPDX-License-Identifier: Apache-2.0
//
// A main() that calls a fuzz target on files, without libFuzzer: every file of the
// folders and every file that it is given.
//
//   program_fuzz_test test/fuzz/program_corpus
//   program_fuzz_test crash-1234

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// What mutators of targets fall back on; nothing is mutated here.
extern "C" size_t LLVMFuzzerMutate(uint8_t*, size_t size, size_t) { return size; }

namespace {

std::vector<std::string> files_of(int count, char** paths) {
  std::vector<std::string> files;
  for (int i = 0; i < count; ++i) {
    if (!std::filesystem::is_directory(paths[i])) {
      files.emplace_back(paths[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(paths[i])) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> files = files_of(argc - 1, argv + 1);
  for (const std::string& path : files) {
    // Known when it ends here.
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s cannot be read\n", path.c_str());
      return 1;
    }
    const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    // Exactly as long as the file, so that a sanitizer sees the first byte beyond.
    const std::vector<uint8_t> bytes(read.begin(), read.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu files\n", files.size());
  return files.empty() ? 1 : 0;
}
