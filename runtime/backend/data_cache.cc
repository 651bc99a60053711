// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/data_cache.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace petrel::runtime {
namespace {

// Of data that looks alike no more is compared, so that a file with much of it
// loads in a time that its size explains.
constexpr size_t kMaxCompared = 8;

}  // namespace

DataCache::~DataCache() = default;

void DataCache::forget_makers(void* self) {
  auto& cache = *static_cast<DataCache*>(self);
  cache.in_making_.clear();
  // The old one may have waiters for ever: it is left as it is.
  static_cast<void>(cache.made_.release());
  cache.made_ = std::make_unique<std::condition_variable_any>();
}

DataCache::Sample DataCache::sample_of(const SharedData& data) {
  constexpr size_t kWords = 64;
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;  // any odd number mixes
  const auto* bytes = static_cast<const uint8_t*>(data.data());
  uint64_t sum = 0;
  for (size_t i = 0; i < kWords; ++i) {
    uint64_t word = 0;
    const size_t at = data.size() / kWords * i;
    std::memcpy(&word, bytes + at, std::min(sizeof(word), data.size() - at));
    sum = (sum ^ word) * kFactor;
    sum ^= sum >> 29;
  }
  return {data.size(), sum};
}

SharedDataPtr DataCache::use(const SharedData* data) {
  Entry& entry = entries_.at(data);
  if (entry.users++ == 0 && entry.idle != idle_.end()) {
    idle_.erase(entry.idle);
    entry.idle = idle_.end();
    stats_.idle_bytes -= data->size();
  }
  return SharedDataPtr(data, Release{this});
}

DataCache::Entry& DataCache::insert(std::unique_ptr<SharedData> data) {
  const SharedData* const address = data.get();
  Entry& entry = entries_[address];
  entry.data = std::move(data);
  entry.idle = idle_.end();
  ++stats_.entries;
  ++stats_.added;
  stats_.bytes += address->size();
  return entry;
}

std::unique_ptr<SharedData> DataCache::erase(const SharedData* data) {
  const auto place = entries_.find(data);
  Entry& entry = place->second;
  if (entry.has_key) by_key_.erase(entry.key);
  if (entry.has_sample) {
    const auto [begin, end] = by_sample_.equal_range(entry.sample);
    for (auto i = begin; i != end; ++i) {
      if (i->second != data) continue;
      by_sample_.erase(i);
      break;
    }
  }
  --stats_.entries;
  stats_.bytes -= data->size();
  std::unique_ptr<SharedData> owned = std::move(entry.data);
  entries_.erase(place);
  return owned;
}

void DataCache::release(const SharedData* data) {
  // Destroyed after the lock is given up.
  std::vector<std::unique_ptr<SharedData>> dropped;
  const std::lock_guard<ProcessMutex> lock(mutex_);
  Entry& entry = entries_.at(data);
  if (--entry.users > 0) return;
  entry.idle = idle_.insert(idle_.end(), data);
  stats_.idle_bytes += data->size();
  while (stats_.idle_bytes > most_idle_bytes_) {
    const SharedData* const oldest = idle_.front();
    idle_.pop_front();
    stats_.idle_bytes -= oldest->size();
    dropped.push_back(erase(oldest));
  }
}

Result<SharedDataPtr> DataCache::get_or_make(const Key& key, const Make& make) {
  {
    std::unique_lock<ProcessMutex> lock(mutex_);
    made_->wait(lock, [&] { return in_making_.count(key) == 0; });
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) {
      ++stats_.shared;
      return use(known->second);
    }
    in_making_.insert(key);
  }
  Result<std::unique_ptr<SharedData>> made = make();
  const std::lock_guard<ProcessMutex> lock(mutex_);
  in_making_.erase(key);
  made_->notify_all();
  if (!made.ok()) return made.error();
  const SharedData* const data = made->get();
  Entry& entry = insert(std::move(*made));
  entry.key = key;
  entry.has_key = true;
  by_key_[key] = data;
  return use(data);
}

SharedDataPtr DataCache::share(std::unique_ptr<SharedData>* data) {
  const Sample sample = sample_of(**data);
  std::set<const SharedData*> compared;
  while (true) {
    // Compared without the lock; releasing what was compared takes it again.
    std::vector<SharedDataPtr> alike;
    {
      const std::lock_guard<ProcessMutex> lock(mutex_);
      const auto [begin, end] = by_sample_.equal_range(sample);
      for (auto i = begin; i != end && compared.size() < kMaxCompared; ++i) {
        if (compared.insert(i->second).second) alike.push_back(use(i->second));
      }
      if (alike.empty()) {
        const SharedData* const added = data->get();
        Entry& entry = insert(std::move(*data));
        entry.sample = sample;
        entry.has_sample = true;
        by_sample_.emplace(sample, added);
        return use(added);
      }
    }
    for (SharedDataPtr& other : alike) {
      if (std::memcmp(other->data(), (*data)->data(), (*data)->size()) != 0) continue;
      const std::lock_guard<ProcessMutex> lock(mutex_);
      ++stats_.shared;
      return std::move(other);
    }
  }
}

DataCache::Stats DataCache::stats() const {
  const std::lock_guard<ProcessMutex> lock(mutex_);
  return stats_;
}

}  // namespace petrel::runtime
