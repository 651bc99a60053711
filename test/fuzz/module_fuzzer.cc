// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the file of a compiled module, as `inspect` reads it: nothing of it is run.
// Then once more with the length and digest that belong to them, as one writes them who
// makes such a file. The command takes most of the time, and is asked of one in sixteen of
// those that are refused.

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "extension/cli/verb.h"
#include "extension/compiled/module_file.h"
#include "runtime/micro/model/petrel_module.h"
#include "test/fuzz/command.h"
#include "test/fuzz/memory_file.h"

namespace petrel::fuzz {
namespace {

void open_and_inspect(const std::vector<uint8_t>& bytes) {
  static MemoryFile file;
  const std::string path = file.write(bytes.data(), bytes.size());
  const auto module = extension::ModuleFile::open(path);
  if (module.ok()) {
    require(module->bytes() == bytes.size(), "a module of another length than its file");
    require(module->manifest().size() <= bytes.size(), "a manifest beyond its file");
    (void)module->check_runs_here();
  } else if (std::accumulate(bytes.begin(), bytes.end(), uint32_t{0}) % 16 != 0) {
    return;
  }
  const int exit_code = run_command({"inspect", path});
  require(module.ok() || exit_code != extension::kDone, "a description of what is not a module");
  require(run_command({"inspect", path, "--json"}) == exit_code,
          "inspect depends on how it prints");
}

// Where the header of the first section begins that looks like one.
bool find_header(const std::vector<uint8_t>& bytes, size_t* begin) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  *begin = text.find({PETREL_MODULE_MAGIC, sizeof(PETREL_MODULE_MAGIC)});
  return *begin != std::string_view::npos &&
         bytes.size() - *begin >= sizeof(struct petrel_module_header);
}

void make_digest_right(std::vector<uint8_t>* bytes, size_t begin) {
  petrel_module_header header;
  std::memcpy(&header, bytes->data() + begin, sizeof(header));
  header.file_bytes = bytes->size();
  std::memset(header.file_sha256, 0, sizeof(header.file_sha256));
  std::memcpy(bytes->data() + begin, &header, sizeof(header));
  SHA256_CTX context;  // SHA256() links the whole of OpenSSL
  SHA256_Init(&context);
  SHA256_Update(&context, bytes->data(), bytes->size());
  SHA256_Final(header.file_sha256, &context);
  std::memcpy(bytes->data() + begin, &header, sizeof(header));
}

}  // namespace
}  // namespace petrel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  petrel::fuzz::open_and_inspect(bytes);
  size_t begin = 0;
  if (!petrel::fuzz::find_header(bytes, &begin)) return 0;
  petrel::fuzz::make_digest_right(&bytes, begin);
  petrel::fuzz::open_and_inspect(bytes);
  return 0;
}
