// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/flatbuffer_mutator.h"

#include <cstring>
#include <utility>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace petrel::fuzz {
namespace {

constexpr uint64_t kExtremes[] = {0,
                                  1,
                                  2,
                                  3,
                                  4,
                                  7,
                                  8,
                                  16,
                                  64,
                                  255,
                                  256,
                                  0x7f,
                                  0x80,
                                  0x7fff,
                                  0x8000,
                                  0xffff,
                                  0x10000,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  0x100000000,
                                  0x4000000000000000,
                                  0x7fffffffffffffff,
                                  0x8000000000000000,
                                  0xfffffffffffffffe,
                                  0xffffffffffffffff};

class Change final {
 public:
  Change(const std::vector<Site>& sites, uint8_t* data, size_t size, std::minstd_rand& random)
      : sites_(sites), data_(data), size_(size), random_(random) {}

  void make() { make(sites_[below(sites_.size())]); }

  // Numbers more often than they come: what else changes is mostly refused at once.
  void make_mostly_numbers() {
    const Site* site = nullptr;
    for (int i = 0; i < 4; ++i) {
      site = &sites_[below(sites_.size())];
      if (site->kind == Site::Kind::kNumber) break;
    }
    make(*site);
  }

 private:
  void make(const Site& site) {
    switch (site.kind) {
      case Site::Kind::kNumber:
        return number(site);
      case Site::Kind::kUnion:
        return put(site, below(16));
      case Site::Kind::kOffset:
        return offset(site);
      case Site::Kind::kLength:
        return length(site);
      case Site::Kind::kField:
        // Mostly a field that is not there any more.
        return put(site, below(4) == 0 ? below(64) : 0);
    }
  }

  uint64_t below(uint64_t limit) { return random_() % limit; }

  uint64_t get(const Site& site) const {
    uint64_t value = 0;
    std::memcpy(&value, data_ + site.position, site.width);
    return value;
  }
  void put(const Site& site, uint64_t value) {
    std::memcpy(data_ + site.position, &value, site.width);
  }

  // Another site of the kind, and width; the same if there is no other nearby.
  const Site& like(const Site& site) {
    for (int i = 0; i < 32; ++i) {
      const Site& other = sites_[below(sites_.size())];
      if (other.kind == site.kind && other.width == site.width && &other != &site) return other;
    }
    return site;
  }

  void number(const Site& site) {
    switch (below(5)) {
      case 0:
        return put(site, kExtremes[below(sizeof(kExtremes) / sizeof(kExtremes[0]))]);
      case 1:
        return put(site, get(site) + below(9) - 4);
      case 2: {
        const Site& other = like(site);
        const uint64_t value = get(other);
        if (below(2) == 0) put(other, get(site));
        return put(site, value);
      }
      case 3:
        // As places in an arena have them.
        return put(site, below(64) * 16);
      default:
        return put(site, below(12));
    }
  }

  void offset(const Site& site) {
    // To where another one leads, if that comes later in the buffer.
    for (int i = 0; i < 64; ++i) {
      const Site& other = sites_[below(sites_.size())];
      if (other.kind != Site::Kind::kOffset) continue;
      if (other.tag != site.tag && i % 8 != 0) continue;
      const uint64_t target = other.position + get(other);
      if (target <= site.position || target >= size_) continue;
      return put(site, target - site.position);
    }
    put(site, below(4) == 0 ? 0 : get(site) + below(9) * 4 - 16);
  }

  void length(const Site& site) {
    const uint64_t now = get(site);
    switch (below(4)) {
      case 0:
        return put(site, 0);
      case 1:
        return put(site, now + 1);
      case 2:
        return put(site, now == 0 ? 1 : now - 1);
      default:
        return put(site, below(now + 2));
    }
  }

  const std::vector<Site>& sites_;
  uint8_t* data_;
  size_t size_;
  std::minstd_rand& random_;
};

}  // namespace

bool change_flatbuffer(const Layout& layout, uint8_t* data, size_t size, unsigned seed) {
  const std::vector<Site> sites = find_sites(layout, data, size);
  if (sites.empty()) return false;
  std::minstd_rand random(seed);
  Change(sites, data + layout.start, size - layout.start, random).make();
  return true;
}

size_t mutate_flatbuffer(const Layout& layout, uint8_t* data, size_t size, size_t max_size,
                         unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 4 == 0 || layout.start >= size) return LLVMFuzzerMutate(data, size, max_size);
  const unsigned changes = 1 + random() % 3;
  for (unsigned i = 0; i < changes; ++i) {
    if (!change_flatbuffer(layout, data, size, static_cast<unsigned>(random()))) {
      return LLVMFuzzerMutate(data, size, max_size);
    }
  }
  return size;
}

Mutants::Mutants(const Layout& layout, std::vector<uint8_t> base)
    : start_(layout.start), base_(std::move(base)) {
  sites_ = find_sites(layout, base_.data(), base_.size());
}

void Mutants::make(std::minstd_rand& random, std::vector<uint8_t>* out) const {
  constexpr size_t kRoom = 64;
  *out = base_;
  if (sites_.empty() || random() % 32 == 0) {
    out->resize(base_.size() + kRoom);
    out->resize(LLVMFuzzerMutate(out->data(), base_.size(), out->size()));
    return;
  }
  Change change(sites_, out->data() + start_, out->size() - start_, random);
  do {
    change.make_mostly_numbers();
  } while (random() % 3 == 0);
}

}  // namespace petrel::fuzz
