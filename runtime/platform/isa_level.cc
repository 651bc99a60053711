// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/isa_level.h"

#include <atomic>
#include <cstring>

#include "runtime/core/log.h"

#if defined(__aarch64__)
#include "runtime/platform/arm64_features.h"
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

namespace petrel::runtime {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};

#if defined(__x86_64__)

// A level allows what those below it allow, and needs what gives it its name:
// a processor with VNNI may lack VBMI.
constexpr uint32_t kUpToAvx2 = kSsse3 | kSse41 | kAvx | kF16c | kFma3 | kAvx2;
constexpr uint32_t kUpToSkx = kUpToAvx2 | kAvx512f | kAvx512skx;
constexpr uint32_t kUpToVbmi = kUpToSkx | kAvx512vbmi;
constexpr uint32_t kUpToVnni = kUpToVbmi | kAvx512vnni;
constexpr uint32_t kUpToGfni = kUpToVnni | kAvxVnni | kGfni;
constexpr uint32_t kNeedsGfni = kUpToSkx | kAvx512vnni | kGfni;

constexpr IsaLevel kLevels[] = {
    {"sse2", 0, 0, ""},
    {"ssse3", kSsse3, kSsse3, ""},
    {"sse4.1", kSsse3 | kSse41, kSsse3 | kSse41, ""},
    {"avx", kSsse3 | kSse41 | kAvx, kSsse3 | kSse41 | kAvx, ""},
    {"f16c", kSsse3 | kSse41 | kAvx | kF16c, kSsse3 | kSse41 | kAvx | kF16c, ""},
    {"fma3", kUpToAvx2 & ~kAvx2, kUpToAvx2 & ~kAvx2, ""},
    {"avx2", kUpToAvx2, kUpToAvx2, ""},
    {"avxvnni", kUpToAvx2 | kAvxVnni, kUpToAvx2 | kAvxVnni, ""},
    {"avx512f", kUpToAvx2 | kAvx512f, kUpToAvx2 | kAvx512f, ""},
    {"avx512skx", kUpToSkx, kUpToSkx, ""},
    {"avx512vbmi", kUpToVbmi, kUpToVbmi, ""},
    {"avx512vnni", kUpToVnni, kUpToSkx | kAvx512vnni, ""},
    {"avx512gfni", kUpToGfni, kNeedsGfni, ""},
    {"amx", kUpToGfni | kAmxInt8, kNeedsGfni | kAmxInt8, ""},
    {"zen", kUpToAvx2, kUpToAvx2, "zen"},
    {"dhyana", kUpToAvx2, kUpToAvx2, "dhyana"},
    {"zen4", kUpToGfni & ~kAvxVnni, kNeedsGfni, "zen4"},
    {"native", kAll, 0, nullptr},
};

// An answer of cpuid; nothing where the processor has no such question.
struct Answer {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Answer ask(unsigned leaf, unsigned part) {
  Answer found;
  if (__get_cpuid_count(leaf, part, &found.a, &found.b, &found.c, &found.d) == 0) return {};
  return found;
}

bool has(uint32_t word, int bit) { return (word >> bit & 1) != 0; }

// The registers that the system saves.
uint32_t saved_registers(const Answer& first) {
  constexpr int kXgetbv = 27;
  if (!has(first.c, kXgetbv)) return 0;
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// __builtin_cpu_supports is not asked: in zig's run-time library it says no to everything.
uint32_t find_features() {
  constexpr uint32_t kVectors = 3u << 1;             // XMM, YMM
  constexpr uint32_t kLarge = kVectors | (7u << 5);  // and masks, ZMM
  constexpr uint32_t kTiles = 3u << 17;
  const Answer first = ask(1, 0), seventh = ask(7, 0), more = ask(7, 1);
  const uint32_t saved = saved_registers(first);
  uint32_t found = 0;
  const auto add = [&](bool is_there, uint32_t feature) { found |= is_there ? feature : 0; };
  add(has(first.c, 9), kSsse3);
  add(has(first.c, 19), kSse41);
  add(has(seventh.c, 8), kGfni);
  if ((saved & kVectors) == kVectors && has(first.c, 28)) {
    add(true, kAvx);
    add(has(first.c, 29), kF16c);
    add(has(first.c, 12), kFma3);
    add(has(seventh.b, 5), kAvx2);
    add(has(more.a, 4), kAvxVnni);
  }
  if ((saved & kLarge) == kLarge && has(seventh.b, 16)) {
    add(true, kAvx512f);
    add(has(seventh.b, 28) && has(seventh.b, 30) && has(seventh.b, 17) && has(seventh.b, 31),
        kAvx512skx);
    add(has(seventh.c, 1), kAvx512vbmi);
    add(has(seventh.c, 11), kAvx512vnni);
  }
  add((saved & kTiles) == kTiles && has(seventh.d, 25), kAmxInt8);
  return found;
}

#elif defined(__aarch64__)

constexpr uint32_t kUpToDot = kFp16 | kDotProduct;
constexpr uint32_t kUpToI8mm = kUpToDot | kI8mm;

// Kernels for bf16, SVE and SME are not in this build: no level selects them.
constexpr IsaLevel kLevels[] = {
    {"neon", 0, 0, ""},
    {"fp16", kFp16, kFp16, ""},
    {"dotprod", kUpToDot, kUpToDot, ""},
    {"i8mm", kUpToI8mm, kUpToI8mm, ""},
    {"cortex-a53", 0, 0, "cortex-a53"},
    {"cortex-a55r0", kFp16, kFp16, "cortex-a55r0"},
    {"cortex-a55", kUpToDot, kUpToDot, "cortex-a55"},
    {"cortex-a57", 0, 0, "cortex-a57"},
    {"cortex-a72", 0, 0, "cortex-a72"},
    {"cortex-a73", 0, 0, "cortex-a73"},
    {"cortex-a75", kUpToDot, kUpToDot, "cortex-a75"},
    {"cortex-a76", kUpToDot, kUpToDot, "cortex-a76"},
    {"cortex-x1", kUpToDot, kUpToDot, "cortex-x1"},
    {"neoverse-n1", kUpToDot, kUpToDot, "neoverse-n1"},
    {"neoverse-v1", kUpToI8mm, kUpToI8mm, "neoverse-v1"},
    {"exynos-m1", 0, 0, "exynos-m1"},
    {"exynos-m3", 0, 0, "exynos-m3"},
    {"exynos-m4", kUpToDot, kUpToDot, "exynos-m4"},
    {"kryo", 0, 0, "kryo"},
    {"native", kAll, 0, nullptr},
};

uint32_t find_features() {
  const Arm64Features there = find_arm64_features();
  uint32_t features = there.fp16 ? kFp16 : 0u;
  features |= there.dot_product ? kDotProduct : 0u;
  return features | (there.i8mm ? kI8mm : 0u);
}

#else

constexpr IsaLevel kLevels[] = {{"native", kAll, 0, nullptr}};

uint32_t find_features() { return 0; }

#endif

constexpr const IsaLevel& kNative = kLevels[sizeof(kLevels) / sizeof(kLevels[0]) - 1];

std::atomic<const IsaLevel*> wanted{&kNative};
std::atomic<const IsaLevel*> fixed{nullptr};

// "sse2, avx, native"; cut when there is no room.
template <size_t N>
void list_available(char (&text)[N]) {
  size_t size = 0;
  for (const IsaLevel& level : isa_levels()) {
    const size_t length = std::strlen(level.name);
    if (!is_available(level) || size + length + 3 > N) continue;
    if (size > 0) {
      std::memcpy(text + size, ", ", 2);
      size += 2;
    }
    std::memcpy(text + size, level.name, length);
    size += length;
  }
  text[size] = '\0';
}

}  // namespace

Span<const IsaLevel> isa_levels() { return {kLevels, sizeof(kLevels) / sizeof(kLevels[0])}; }

bool is_available(const IsaLevel& level) {
  static const uint32_t found = find_features();
  return (level.needed & ~found) == 0;
}

Error set_isa_level(std::string_view name) {
  const IsaLevel* level = nullptr;
  for (const IsaLevel& l : isa_levels()) {
    if (name == l.name) level = &l;
  }
  if (level == nullptr || !is_available(*level)) {
    char available[320];
    list_available(available);
    PETREL_LOG(Error, "instruction set '%.*s' is %s; this processor has %s",
               static_cast<int>(name.size() < 64 ? name.size() : 64), name.data(),
               level == nullptr ? "unknown" : "not there", available);
    return Error::InvalidArgument;
  }
  const IsaLevel* before = fixed.load();
  if (before == nullptr) {
    wanted.store(level);
    before = fixed.load();
  }
  if (before != nullptr && before != level) {
    PETREL_LOG(Error, "instruction set is '%s' and in use, cannot become '%s'", before->name,
               level->name);
    return Error::InvalidState;
  }
  return Error::Ok;
}

const IsaLevel& isa_level() {
  const IsaLevel* level = fixed.load(std::memory_order_acquire);
  if (level != nullptr) return *level;
  const IsaLevel* const mine = wanted.load();
  return fixed.compare_exchange_strong(level, mine) ? *mine : *level;
}

}  // namespace petrel::runtime
