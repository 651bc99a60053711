// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/json_mutator.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace petrel::fuzz {
namespace {

constexpr size_t kNone = std::string::npos;

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "-1",
                                    "2",
                                    "3",
                                    "7",
                                    "16",
                                    "64",
                                    "1000",
                                    "2147483647",
                                    "2147483648",
                                    "-2147483648",
                                    "4294967296",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "18446744073709551615",
                                    "0.5",
                                    "-0.0",
                                    "1e308",
                                    "1e-320"};
constexpr const char* kValues[] = {"null", "true", "false", "{}", "[]", "\"\"", "0", "[[]]"};

// A value of the text, or the name of a member.
struct Part {
  enum class Kind : uint8_t { kString, kNumber, kWord, kGroup, kName };
  Kind kind;
  size_t begin;
  size_t end = kNone;
  // Where its member begins, or itself.
  size_t item;
};

class Scanner final {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  // Only groups that are closed.
  std::vector<Part> scan() {
    while (at_ < text_.size()) step();
    std::vector<Part> closed;
    for (const Part& part : parts_) {
      if (part.end != kNone) closed.push_back(part);
    }
    return closed;
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      open_.push_back(parts_.size());
      add(Part::Kind::kGroup, kNone);
      ++at_;
    } else if (c == '}' || c == ']') {
      ++at_;
      name_ = kNone;
      if (open_.empty()) return;
      parts_[open_.back()].end = at_;
      open_.pop_back();
    } else if (c == '"') {
      string();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      run(Part::Kind::kNumber, "+-.eE0123456789");
    } else if (c >= 'a' && c <= 'z') {
      run(Part::Kind::kWord, "abcdefghijklmnopqrstuvwxyz");
    } else {
      if (c == ':' && !parts_.empty() && parts_.back().kind == Part::Kind::kString) {
        parts_.back().kind = Part::Kind::kName;
        name_ = parts_.back().begin;
      }
      ++at_;
    }
  }

  void add(Part::Kind kind, size_t end) {
    parts_.push_back({kind, at_, end, name_ == kNone ? at_ : name_});
    name_ = kNone;
  }

  void string() {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) {
      at_ = text_.size();
      return;
    }
    add(Part::Kind::kString, end + 1);
    at_ = end + 1;
  }

  void run(Part::Kind kind, const char* characters) {
    const size_t end = std::min(text_.find_first_not_of(characters, at_), text_.size());
    add(kind, end);
    at_ = end;
  }

  const std::string& text_;
  size_t at_ = 0;
  size_t name_ = kNone;  // of the member whose value comes next
  std::vector<Part> parts_;
  std::vector<size_t> open_;
};

class JsonChange final {
 public:
  JsonChange(const std::string& text, unsigned seed)
      : text_(text), parts_(Scanner(text).scan()), random_(seed) {}

  std::string make() {
    if (parts_.empty()) return {};
    const Part& part = parts_[below(parts_.size())];
    // A name can only become another one.
    if (part.kind == Part::Kind::kName) return replaced(part, copy_of(like(part)));
    switch (below(8)) {
      case 0:
        return replaced(part, kNumbers[below(sizeof(kNumbers) / sizeof(kNumbers[0]))]);
      case 1:
        return replaced(part, kValues[below(sizeof(kValues) / sizeof(kValues[0]))]);
      case 2:
        return without(part);
      case 3:
        return twice(part);
      case 4: {
        const Part& other = parts_[below(parts_.size())];
        return replaced(part, copy_of(other));
      }
      default:
        return replaced(part, copy_of(like(part)));
    }
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }

  std::string copy_of(const Part& part) const {
    return text_.substr(part.begin, part.end - part.begin);
  }

  // Another part of the kind, that differs if there is one nearby.
  const Part& like(const Part& part) {
    for (int i = 0; i < 64; ++i) {
      const Part& other = parts_[below(parts_.size())];
      if (other.kind == part.kind && copy_of(other) != copy_of(part)) return other;
    }
    return part;
  }

  std::string replaced(const Part& part, const std::string& by) const {
    return text_.substr(0, part.begin) + by + text_.substr(part.end);
  }

  // A member or element goes with the comma behind it, or else before it.
  std::string without(const Part& part) const {
    size_t begin = part.item, end = part.end;
    const size_t behind = text_.find_first_not_of(" \n\t", end);
    const size_t before = begin == 0 ? kNone : text_.find_last_not_of(" \n\t", begin - 1);
    if (behind != kNone && text_[behind] == ',') {
      end = behind + 1;
    } else if (before != kNone && text_[before] == ',') {
      begin = before;
    } else if (before == kNone || (text_[before] != '[' && text_[before] != '{')) {
      return {};  // the whole text
    }
    return text_.substr(0, begin) + text_.substr(end);
  }

  std::string twice(const Part& part) const {
    const size_t before = part.item == 0 ? kNone : text_.find_last_not_of(" \n\t", part.item - 1);
    if (before == kNone || (text_[before] != ',' && text_[before] != '[' && text_[before] != '{')) {
      return {};
    }
    const std::string item = text_.substr(part.item, part.end - part.item);
    return text_.substr(0, part.end) + "," + item + text_.substr(part.end);
  }

  const std::string& text_;
  const std::vector<Part> parts_;
  std::minstd_rand random_;
};

}  // namespace

std::string change_json(const std::string& text, unsigned seed) {
  return JsonChange(text, seed).make();
}

size_t mutate_json(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  const unsigned changes = 1 + random() % 3;
  for (unsigned i = 0; i < changes; ++i) {
    std::string changed = change_json(text, static_cast<unsigned>(random()));
    if (!changed.empty() && changed.size() <= max_size) text = std::move(changed);
  }
  if (text.size() == size && (size == 0 || std::memcmp(text.data(), data, size) == 0)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

}  // namespace petrel::fuzz
