// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/data_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/backend/interface.h"

namespace petrel::runtime {
namespace {

class Bytes final : public SharedData {
 public:
  static std::unique_ptr<SharedData> make(std::vector<uint8_t> bytes) {
    return std::unique_ptr<SharedData>(new Bytes(std::move(bytes)));
  }
  ~Bytes() override { --live; }
  static std::atomic<int> live;

 private:
  explicit Bytes(std::vector<uint8_t> bytes) : Bytes(new std::vector<uint8_t>(std::move(bytes))) {}
  explicit Bytes(std::vector<uint8_t>* bytes)
      : SharedData(bytes->data(), bytes->size()), bytes_(bytes) {
    ++live;
  }
  std::unique_ptr<std::vector<uint8_t>> bytes_;
};
std::atomic<int> Bytes::live{0};

DataCache::Key key(uint8_t first) {
  DataCache::Key key = {};
  key[0] = first;
  return key;
}

DataCache::Make maker(size_t size, uint8_t fill, int* calls = nullptr) {
  return [=]() -> Result<std::unique_ptr<SharedData>> {
    if (calls != nullptr) ++*calls;
    return Bytes::make(std::vector<uint8_t>(size, fill));
  };
}

TEST(DataCache, MakesOnceForAllUsersAndForgetsWithTheLast) {
  DataCache cache;
  int calls = 0;
  {
    const SharedDataPtr first = *cache.get_or_make(key(1), maker(10, 7, &calls));
    const SharedDataPtr second = *cache.get_or_make(key(1), maker(10, 8, &calls));
    EXPECT_EQ(first.get(), second.get());
    EXPECT_EQ(static_cast<const uint8_t*>(second->data())[9], 7);
    const SharedDataPtr other = *cache.get_or_make(key(2), maker(10, 7, &calls));
    EXPECT_NE(first.get(), other.get());
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(cache.stats().entries, 2u);
    EXPECT_EQ(cache.stats().bytes, 20u);
    EXPECT_EQ(cache.stats().shared, 1u);
  }
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_EQ(cache.stats().bytes, 0u);
  EXPECT_EQ(Bytes::live, 0);
}

TEST(DataCache, PassesErrorsOnAndTriesAgain) {
  DataCache cache;
  const auto failed = cache.get_or_make(
      key(1), []() -> Result<std::unique_ptr<SharedData>> { return Error::AccessFailed; });
  EXPECT_EQ(failed.error(), Error::AccessFailed);
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_TRUE(cache.get_or_make(key(1), maker(1, 1)).ok());
}

TEST(DataCache, KeepsIdleDataWithinItsBoundAndDropsTheOldest) {
  {
    DataCache cache(25);
    int calls = 0;
    for (uint8_t k = 1; k <= 3; ++k) {
      ASSERT_TRUE(cache.get_or_make(key(k), maker(10, k, &calls)).ok());
    }
    EXPECT_EQ(cache.stats().idle_bytes, 20u);  // 1 was dropped
    EXPECT_EQ(Bytes::live, 2);
    const SharedDataPtr kept = *cache.get_or_make(key(2), maker(10, 2, &calls));
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(cache.stats().idle_bytes, 10u);
    ASSERT_TRUE(cache.get_or_make(key(1), maker(10, 1, &calls)).ok());
    EXPECT_EQ(calls, 4);
    // In use nothing is dropped, whatever the bound says.
    const SharedDataPtr large = *cache.get_or_make(key(9), maker(1000, 9));
    EXPECT_EQ(cache.stats().bytes, 1030u);
  }
  EXPECT_EQ(Bytes::live, 0);
}

TEST(DataCache, SharesEqualBytesAndNoOthers) {
  DataCache cache;
  std::vector<SharedDataPtr> held;
  const auto share = [&](size_t size, size_t odd) {
    std::vector<uint8_t> bytes(size, 7);
    bytes[odd] = 8;
    std::unique_ptr<SharedData> data = Bytes::make(std::move(bytes));
    held.push_back(cache.share(&data));
    return data == nullptr;  // it was new
  };
  // Byte 700 is not among those that data is looked up by.
  EXPECT_TRUE(share(65536, 700));
  EXPECT_FALSE(share(65536, 700));
  EXPECT_TRUE(share(65536, 701));
  EXPECT_TRUE(share(65537, 700));
  EXPECT_EQ(held[0], held[1]);
  EXPECT_NE(held[0], held[2]);
  EXPECT_EQ(cache.stats().entries, 3u);
  held.clear();
  EXPECT_EQ(cache.stats().entries, 0u);
}

// A backend that changes its data: it fetches the original, makes a changed
// copy that all handles share, and gives the original back.
class ChangingBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                               Span<const CompileSpec>) const override {
    const std::string_view name(static_cast<const char*>(processed->data()), processed->size());
    PETREL_ASSIGN_OR_RETURN(FreeableBuffer original, context.get_named_data_map()->get_data(name));
    // What the data is: here it is short enough to be its own digest.
    DataCache::Key key = {};
    std::copy_n(static_cast<const uint8_t*>(original.data()), std::min(original.size(), key.size()),
                key.begin());
    PETREL_ASSIGN_OR_RETURN(SharedDataPtr data,
                            cache_.get_or_make(key, [&]() -> Result<std::unique_ptr<SharedData>> {
                              const auto* begin = static_cast<const uint8_t*>(original.data());
                              std::vector<uint8_t> changed(begin, begin + original.size());
                              for (uint8_t& byte : changed) byte = static_cast<uint8_t>(~byte);
                              original.free();
                              ++made_;
                              return Bytes::make(std::move(changed));
                            }));
    processed->free();
    return static_cast<DelegateHandle*>(new SharedDataPtr(std::move(data)));
  }
  Error execute(BackendExecutionContext&, DelegateHandle* handle,
                Span<EValue*> args) const override {
    const SharedData& data = **static_cast<SharedDataPtr*>(handle);
    int64_t sum = 0;
    for (size_t i = 0; i < data.size(); ++i) sum += static_cast<const uint8_t*>(data.data())[i];
    *args[0] = EValue(sum);
    return Error::Ok;
  }
  void destroy(DelegateHandle* handle) const override {
    delete static_cast<SharedDataPtr*>(handle);
  }

  const DataCache& cache() const { return cache_; }
  int made() const { return made_; }

 private:
  mutable DataCache cache_;
  mutable std::atomic<int> made_{0};
};

// 16 bytes of one value under any of two names.
class TwoKeys final : public NamedDataMap {
 public:
  TwoKeys(uint8_t a, uint8_t b) : a_(16, a), b_(16, b) {}
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key != "a" && key != "b") return Error::NotFound;
    ++out_;
    const std::vector<uint8_t>& bytes = key == "a" ? a_ : b_;
    return FreeableBuffer(
        bytes.data(), bytes.size(),
        [](void* out, void*, size_t) { --*static_cast<std::atomic<int>*>(out); }, &out_);
  }
  Result<uint32_t> get_num_keys() const override { return uint32_t{2}; }
  Result<const char*> get_key(uint32_t index) const override { return index == 0 ? "a" : "b"; }
  int out() const { return out_; }

 private:
  std::vector<uint8_t> a_, b_;
  mutable std::atomic<int> out_{0};
};

TEST(DataCache, ManyHandlesOfManyThreadsShareWhatABackendChanged) {
  const ChangingBackend backend;
  // Two programs that give the name "a" to different bytes, and 9 to equal ones.
  const TwoKeys first(1, 9), second(2, 9);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  constexpr int kThreads = 8, kRounds = 200;
  // Held for the whole test, so that nothing is made a second time.
  std::vector<DelegateHandle*> held;
  const auto init = [&](const TwoKeys& map, const char* name) {
    BackendInitContext context(nullptr, nullptr, "forward", &map, {});
    FreeableBuffer payload(name, 1, nullptr);
    return *backend.init(context, &payload, {});
  };
  held = {init(first, "a"), init(first, "b"), init(second, "a")};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const bool one = (t + round) % 2 == 0;
        const bool named_a = round % 3 != 0;
        DelegateHandle* const handle = init(one ? first : second, named_a ? "a" : "b");
        EValue sum;
        EValue* args[] = {&sum};
        BackendExecutionContext context(nullptr, nullptr, "forward", nullptr);
        static_cast<void>(backend.execute(context, handle, args));
        const int byte = !named_a ? 9 : one ? 1 : 2;
        right += sum.toInt() == 16 * (255 - byte);
        backend.destroy(handle);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kRounds);
  EXPECT_EQ(backend.made(), 3);
  EXPECT_EQ(backend.cache().stats().entries, 3u);
  EXPECT_EQ(first.out() + second.out(), 0);
  for (DelegateHandle* handle : held) backend.destroy(handle);
  EXPECT_EQ(backend.cache().stats().entries, 0u);
  EXPECT_EQ(Bytes::live, 0);
}

#if !defined(__SANITIZE_THREAD__)  // which ends children of programs with threads
TEST(DataCache, ChildOfForkMakesWhatAThreadOfTheParentIsMaking) {
  DataCache cache;
  std::promise<void> is_making, may_end;
  std::thread maker_thread([&] {
    const auto made = cache.get_or_make(key(1), [&] {
      is_making.set_value();
      may_end.get_future().wait();
      return Result<std::unique_ptr<SharedData>>(Bytes::make({1}));
    });
    EXPECT_TRUE(made.ok());
  });
  is_making.get_future().wait();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // what waits for a thread that is gone waits for ever
    const auto made = cache.get_or_make(key(1), maker(1, 2));
    _exit(made.ok() && *static_cast<const uint8_t*>((*made)->data()) == 2 ? 0 : 1);
  }
  may_end.set_value();
  maker_thread.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(cache.stats().entries, 0u);
}
#endif

// Handles that come and go make data, drop it and make it again.
TEST(DataCache, DataComesAndGoesUnderManyThreads) {
  const ChangingBackend backend;
  const TwoKeys map(3, 4);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        BackendInitContext context(nullptr, nullptr, "forward", &map, {});
        FreeableBuffer payload(round % 2 == 0 ? "a" : "b", 1, nullptr);
        const auto handle = backend.init(context, &payload, {});
        if (!handle.ok()) continue;
        ++right;
        backend.destroy(*handle);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 6 * 300);
  EXPECT_EQ(backend.cache().stats().entries, 0u);
  EXPECT_EQ(map.out(), 0);
}

}  // namespace
}  // namespace petrel::runtime
