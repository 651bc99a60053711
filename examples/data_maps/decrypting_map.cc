// SPDX-License-Identifier: Apache-2.0
//
// Weights that lie encrypted on the disk (AES-256 in counter mode): the map
// decrypts each one when it is asked for, into memory that goes with the
// FreeableBuffer. Nothing but what is in use is ever in the clear.
//
//   openssl enc -aes-256-ctr -K $KEY -iv $IV -in model.ptd -out model.enc
//   ./bazelw run //examples/data_maps:decrypting_map -- model.pte model.enc $KEY $IV
//
// Counter mode lets any range be decrypted by itself, so the map is a FlatDataMap
// over a loader that decrypts. It does not notice changed bytes: use a mode with
// authentication, or a program that is bound to its data, where that matters.
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "examples/data_maps/run_on_ones.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "runtime/core/data_loader.h"

namespace {

using petrel::runtime::DataLoader;
using petrel::runtime::Error;
using petrel::runtime::FreeableBuffer;
using petrel::runtime::Result;

constexpr size_t kBlock = 16;

class DecryptingLoader final : public DataLoader {
 public:
  DecryptingLoader(DataLoader* file, const std::array<uint8_t, 32>& key,
                   const std::array<uint8_t, kBlock>& iv)
      : file_(file), key_(key), iv_(iv) {}

  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo& info) const override {
    // Decryption begins where a block does.
    const size_t before = offset % kBlock;
    if (size > SIZE_MAX - 2 * kBlock) return Error::InvalidArgument;
    PETREL_ASSIGN_OR_RETURN(const FreeableBuffer hidden,
                            file_->load(offset - before, size + before, info));
    const size_t room = (hidden.size() + 2 * kBlock) / kBlock * kBlock;
    auto* clear = static_cast<uint8_t*>(std::aligned_alloc(kBlock, room));
    if (clear == nullptr) return Error::MemoryAllocationFailed;
    if (!decrypt(offset / kBlock, hidden, clear)) {
      std::free(clear);
      return Error::AccessFailed;
    }
    std::memmove(clear, clear + before, size);
    return FreeableBuffer(clear, size, [](void*, void* data, size_t) { std::free(data); });
  }
  Result<size_t> size() const override { return file_->size(); }

 private:
  bool decrypt(uint64_t block, const FreeableBuffer& hidden, uint8_t* out) const {
    std::array<uint8_t, kBlock> counter = iv_;
    uint64_t carry = block;  // a big-endian sum
    for (size_t i = kBlock; i-- > 0 && carry > 0; carry >>= 8) {
      carry += counter[i];
      counter[i] = static_cast<uint8_t>(carry);
    }
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    if (context == nullptr) return false;
    bool good =
        EVP_DecryptInit_ex(context, EVP_aes_256_ctr(), nullptr, key_.data(), counter.data()) == 1;
    const auto* in = static_cast<const uint8_t*>(hidden.data());
    for (size_t at = 0; good && at < hidden.size();) {
      const int part = static_cast<int>(std::min<size_t>(hidden.size() - at, 1 << 30));
      int written = 0;
      good = EVP_DecryptUpdate(context, out + at, &written, in + at, part) == 1;
      at += static_cast<size_t>(part);
    }
    EVP_CIPHER_CTX_free(context);
    return good;
  }

  DataLoader* file_;
  std::array<uint8_t, 32> key_;
  std::array<uint8_t, kBlock> iv_;
};

template <size_t kSize>
std::optional<std::array<uint8_t, kSize>> from_hex(const char* text) {
  std::array<uint8_t, kSize> bytes;
  if (std::strlen(text) != 2 * kSize) return std::nullopt;
  for (size_t i = 0; i < kSize; ++i) {
    const char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};
    char* end = nullptr;
    bytes[i] = static_cast<uint8_t>(std::strtoul(pair, &end, 16));
    if (end != pair + 2) return std::nullopt;
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace petrel;  // NOLINT: an example
  if (argc != 5) {
    return std::fprintf(stderr, "usage: decrypting_map MODEL.pte DATA.enc KEY IV\n"), 2;
  }
  const auto key = from_hex<32>(argv[3]);
  const auto iv = from_hex<kBlock>(argv[4]);
  if (!key || !iv) {
    return std::fprintf(stderr, "decrypting_map: KEY has 64 and IV 32 hexadecimal digits\n"), 2;
  }
  auto file = extension::FileDataLoader::from(argv[2]);
  if (!file.ok()) return 1;
  DecryptingLoader clear(&*file, *key, *iv);
  const auto weights = extension::FlatDataMap::load(&clear);
  if (!weights.ok()) return 1;
  return examples::run_on_ones(argv[1], *weights);
}
