// SPDX-License-Identifier: Apache-2.0
//
// DataCache: data that the handles of a backend share in one process, such as
// weights in the form its kernels read. Locked, counted, and bounded if asked.
//
//   static DataCache* const cache = new DataCache;      // one for the backend
//   Result<SharedDataPtr> data = cache->get_or_make(key, [&] {
//     return transformed(*context.get_named_data_map()->get_data("w"));
//   });                                // copy, change the copy, free the original
//
//   handle 1 ---- SharedDataPtr ----.
//                                    >---- data         goes with its last user,
//   handle 2 ---- SharedDataPtr ----'                   or stays while it is idle
//
// A key must say what the data is: a digest that the backend computed of the
// bytes and of all that was done with them. Names out of files are not keys: two
// files may give one name to different bytes. Where computing a digest costs
// too much, share() compares finished data byte by byte instead.
//
// All functions may be called by several threads at once, and in the child of fork(), which
// makes anew what other threads were making. The cache outlives
// what it gave out. Not for small systems: it uses the heap and locks.

#ifndef PETREL_RUNTIME_BACKEND_DATA_CACHE_H_
#define PETREL_RUNTIME_BACKEND_DATA_CACHE_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/core/result.h"
#include "runtime/platform/process_mutex.h"

namespace petrel::runtime {

// Bytes that nobody writes to any more; derived classes own them.
class SharedData {
 public:
  virtual ~SharedData() = default;
  SharedData(const SharedData&) = delete;
  SharedData& operator=(const SharedData&) = delete;

  const void* data() const { return data_; }
  size_t size() const { return size_; }

 protected:
  SharedData(const void* data, size_t size) : data_(data), size_(size) {}

 private:
  const void* data_;
  size_t size_;
};

using SharedDataPtr = std::shared_ptr<const SharedData>;

class DataCache {
 public:
  using Key = std::array<uint8_t, 32>;
  using Make = std::function<Result<std::unique_ptr<SharedData>>()>;

  struct Stats {
    size_t entries = 0;     // there now, idle ones included
    size_t bytes = 0;       // of these
    size_t idle_bytes = 0;  // of those that nobody uses
    uint64_t added = 0;     // ever
    uint64_t shared = 0;    // times that data was given out again
  };

  // Data without users stays up to `most_idle_bytes` in all; what was idle
  // longest goes first. Data in use is never dropped.
  explicit DataCache(size_t most_idle_bytes = 0) : most_idle_bytes_(most_idle_bytes) {}
  ~DataCache();
  DataCache(const DataCache&) = delete;
  DataCache& operator=(const DataCache&) = delete;

  // The data of `key`, from `make` when it is not there. Threads that ask for
  // the same key meanwhile wait; if `make` fails, its error goes to the caller
  // and the next one tries. `make` must not ask this cache.
  Result<SharedDataPtr> get_or_make(const Key& key, const Make& make);

  // Data with the bytes of `*data`: one that is there, and `*data` stays with
  // the caller, or this one, and `*data` becomes null.
  SharedDataPtr share(std::unique_ptr<SharedData>* data);

  Stats stats() const;

 private:
  // Size and a few of the bytes. Data that agrees in it is compared.
  using Sample = std::pair<size_t, uint64_t>;
  struct Entry {
    std::unique_ptr<SharedData> data;
    size_t users = 0;
    Key key = {};
    bool has_key = false;
    Sample sample = {};
    bool has_sample = false;
    std::list<const SharedData*>::iterator idle;  // valid while users is 0
  };
  // Gives a use back.
  struct Release {
    DataCache* cache;
    void operator()(const SharedData* data) const { cache->release(data); }
  };

  static Sample sample_of(const SharedData& data);
  // In the child of fork(), which has none of the threads that make data or wait for it.
  static void forget_makers(void* self);
  // With the lock held.
  SharedDataPtr use(const SharedData* data);
  Entry& insert(std::unique_ptr<SharedData> data);
  std::unique_ptr<SharedData> erase(const SharedData* data);

  void release(const SharedData* data);

  const size_t most_idle_bytes_;
  mutable ProcessMutex mutex_{&forget_makers, this};
  std::unique_ptr<std::condition_variable_any> made_{new std::condition_variable_any};
  std::map<const SharedData*, Entry> entries_;
  std::map<Key, const SharedData*> by_key_;
  std::set<Key> in_making_;
  std::multimap<Sample, const SharedData*> by_sample_;
  std::list<const SharedData*> idle_;  // the longest first
  Stats stats_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_BACKEND_DATA_CACHE_H_
