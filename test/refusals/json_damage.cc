// SPDX-License-Identifier: Apache-2.0
#include "test/refusals/json_damage.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace petrel::refusals {
namespace {

constexpr char kSpace[] = " \t\r\n";

// A value of the text, [begin, end). Its member or item begins at `item`.
struct Part {
  size_t item;
  size_t begin;
  size_t end = 0;
  std::string key;  // of a member, else that of the list it stands in
  std::vector<Part> parts = {};

  bool is_member() const { return item < begin; }
};

class Reader final {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Part read() { return value(skip(), ""); }

 private:
  size_t skip() { return at_ = text_.find_first_not_of(kSpace, at_); }

  Part value(size_t item, std::string key) {
    Part part{item, skip(), 0, std::move(key)};
    const char opened = text_[at_];
    if (opened == '{' || opened == '[') {
      const char closed = opened == '{' ? '}' : ']';
      for (++at_; text_[skip()] != closed; at_ += text_[skip()] == ',' ? 1 : 0) {
        const size_t begin = skip();
        std::string name = part.key;
        if (opened == '{') {
          name = string();
          at_ = text_.find(':', at_) + 1;
        }
        part.parts.push_back(value(begin, std::move(name)));
      }
      ++at_;
    } else if (opened == '"') {
      string();
    } else {
      at_ = std::min(text_.find_first_of(",]} \n", at_), text_.size());
    }
    part.end = at_;
    return part;
  }

  // Without its quotes.
  std::string string() {
    const size_t begin = at_ + 1;
    for (++at_; text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
    return text_.substr(begin, at_++ - begin);
  }

  const std::string& text_;
  size_t at_ = 0;
};

// What stands in a text under one key, without what comes twice.
using Texts = std::map<std::string, std::vector<std::string>>;

class Changes final {
 public:
  Changes(const std::string& text, const std::function<void(const std::string&)>& use)
      : text_(text), use_(use), whole_(Reader(text).read()) {
    collect(whole_);
  }

  void make(int times, std::map<std::string, int>* seen) { walk(whole_, "", times, seen); }

 private:
  std::string copy(const Part& part) const {
    return text_.substr(part.begin, part.end - part.begin);
  }

  void collect(const Part& part) {
    std::vector<std::string>& known = by_key_[part.key];
    const std::string own = copy(part);
    if (std::find(known.begin(), known.end(), own) == known.end()) known.push_back(own);
    if (part.is_member()) keys_.insert(part.key);
    for (const Part& inner : part.parts) collect(inner);
  }

  // The text of a member of an object; "" where there is none.
  std::string member(const Part& object, const char* key) const {
    for (const Part& part : object.parts) {
      if (part.is_member() && part.key == key) return copy(part);
    }
    return "";
  }

  // An item by what it calls itself, a member by its key, but for those with names of their own.
  std::string place(const Part& holder, const Part& part) const {
    if (!part.is_member()) {
      std::string name = member(part, "target");
      if (name.empty() && !member(part, "arg").empty()) name = member(part, "name");
      return "[" + name + "]";
    }
    const bool is_map = !holder.key.empty() && (holder.key.back() == 's' || holder.key == "config");
    return is_map && text_[holder.begin] == '{' ? ".*" : "." + part.key;
  }

  void walk(const Part& part, const std::string& at, int times, std::map<std::string, int>* seen) {
    if (!at.empty() && ++(*seen)[at] <= times) change(part);
    for (const Part& inner : part.parts) walk(inner, at + place(part, inner), times, seen);
  }

  void change(const Part& part) {
    for (const char* other : {"null", "true", "-1", "\"x\"", "[]", "{}"}) replace(part, other);
    const char first = text_[part.begin];
    if (first == '-' || (first >= '0' && first <= '9')) {
      for (const char* number : {"0", "1", "2", "3", "0.5", "1e300", "2147483648",
                                 "9223372036854775807", "18446744073709551615"}) {
        replace(part, number);
      }
    }
    if (first == 'f') replace(part, "true");
    if (first == 't') replace(part, "false");
    // Two others of the same name: one before, one behind.
    const std::vector<std::string>& likes = by_key_[part.key];
    const auto own = std::find(likes.begin(), likes.end(), copy(part));
    if (own != likes.begin()) replace(part, *(own - 1));
    if (own + 1 != likes.end()) replace(part, *(own + 1));
    remove(part);
    use_(text_.substr(0, part.end) + "," + text_.substr(part.item, part.end - part.item) +
         text_.substr(part.end));
    if (part.is_member()) rename(part);
  }

  void replace(const Part& part, const std::string& by) {
    if (by == copy(part)) return;
    use_(text_.substr(0, part.begin) + by + text_.substr(part.end));
  }

  // With the comma behind it, or else before it.
  void remove(const Part& part) {
    size_t begin = part.item, end = part.end;
    const size_t behind = text_.find_first_not_of(kSpace, end);
    const size_t before = text_.find_last_not_of(kSpace, begin - 1);
    if (text_[behind] == ',') {
      end = behind + 1;
    } else if (text_[before] == ',') {
      begin = before;
    }
    use_(text_.substr(0, begin) + text_.substr(end));
  }

  void rename(const Part& part) {
    const std::string family = part.key.substr(0, part.key.find('_') + 1);
    if (family.empty()) return;
    for (const std::string& key : keys_) {
      if (key == part.key || key.compare(0, family.size(), family) != 0) continue;
      use_(text_.substr(0, part.item + 1) + key + text_.substr(part.item + 1 + part.key.size()));
    }
  }

  const std::string& text_;
  const std::function<void(const std::string&)>& use_;
  const Part whole_;
  Texts by_key_;
  std::set<std::string> keys_;
};

}  // namespace

void JsonDamage::each(const std::string& text, const std::function<void(const std::string&)>& use) {
  Changes(text, use).make(times_, &seen_);
}

}  // namespace petrel::refusals
