// SPDX-License-Identifier: Apache-2.0
//
// A main() that calls a target very often. libFuzzer goes through all counters and all that it
// knows of rare ones after each input, and through the input before: most of the time, where a
// target takes some ten microseconds; and what it is told of every comparison costs a third where
// one takes a millisecond. Here an input is gone through once for many mutants of it, and what
// shows something new is kept.
//
//   program_many -max_total_time=60 -artifact_prefix=found/ FOLDER... FOLDER-OR-FILE...
//
// Mutants are made by the layout of a FlatBuffer where the target has layout_of(), by its own
// LLVMFuzzerCustomMutator() else, and of bytes in general where it has neither. New inputs go to
// the first folder. What ends the process is written to a file, as libFuzzer does: crash-,
// timeout-, oom- or leak-, and a hash. What the product says of each input is not kept.

#include <fcntl.h>
#include <sanitizer/allocator_interface.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "test/fuzz/byte_mutator.h"
#include "test/fuzz/flatbuffer_mutator.h"
#include "test/fuzz/oracle.h"
#include "test/fuzz/seen_edges.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                                                size_t max_size, unsigned seed);

namespace petrel::fuzz {

__attribute__((weak)) Layout layout_of(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr int kMaxSeconds = 10;
constexpr long kMaxKilobytes = 3'000'000;
// Inputs after which leaks are looked for together; more, while looking for them takes more
// than a tenth of the time, as where a cache keeps more after one input and less after another.
constexpr size_t kSuspects = 32;
constexpr size_t kMostSuspects = 1024;
constexpr double kLeakShare = 0.1;
// Mutants of one input in a row, if they are fast.
constexpr int kMutants = 256;
constexpr auto kLongest = std::chrono::milliseconds(20);

struct Options {
  double seconds = 10;
  uint64_t runs = UINT64_MAX;
  unsigned seed = 1;
  size_t longest = 8192;  // of inputs
  std::string prefix;
  std::vector<std::string> paths;
};

// Where this program and the sanitizers write, when what the product writes goes nowhere.
std::FILE* console = stderr;

void silence_product() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int out = dup(STDERR_FILENO);
  require(nowhere >= 0 && out >= 0, "a file that takes all");
  console = fdopen(out, "w");
  require(console != nullptr, "a console");
  setvbuf(console, nullptr, _IONBF, 0);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
  __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<intptr_t>(out)));
}

// What runs now, for the functions below, which run in its middle.
const Bytes* running = nullptr;
std::string artifacts;
volatile std::sig_atomic_t seconds_of_running = 0;
std::atomic<int64_t> blocks{0};

uint64_t hash_of(const Bytes& bytes) {
  uint64_t hash = 14695981039346656037u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

std::string write(const std::string& prefix, const Bytes& bytes) {
  char name[32];
  std::snprintf(name, sizeof(name), "%016llx", static_cast<unsigned long long>(hash_of(bytes)));
  std::ofstream file(prefix + name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return prefix + name;
}

void write_running(const char* kind) {
  if (running == nullptr) return;
  const std::string path = write(artifacts + kind, *running);
  std::fprintf(console, "Test unit written to %s\n", path.c_str());
  running = nullptr;
}

[[noreturn]] void end(const char* kind, const char* why) {
  std::fprintf(console, "SUMMARY: %s\n", why);
  __sanitizer_print_stack_trace();
  write_running(kind);
  _exit(77);
}

void on_second(int) {
  if (++seconds_of_running > kMaxSeconds) end("timeout-", "it takes more than ten seconds");
}
void on_abort(int) { end("crash-", "abort"); }
void on_death() { write_running("crash-"); }

void watch() {
  __sanitizer_set_death_callback(&on_death);
  __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, size_t) { blocks.fetch_add(1, std::memory_order_relaxed); },
      [](const volatile void*) { blocks.fetch_sub(1, std::memory_order_relaxed); });
  std::signal(SIGABRT, &on_abort);
  std::signal(SIGPROF, &on_second);
  const itimerval each_second = {{1, 0}, {1, 0}};
  require(setitimer(ITIMER_PROF, &each_second, nullptr) == 0, "a timer");
}

// Those of one input, as the target has it.
class MutantsOf final {
 public:
  MutantsOf(const Bytes& base, const Bytes& other, size_t longest)
      : base_(base), other_(other), longest_(longest) {
    if (layout_of != nullptr) by_layout_.emplace(layout_of(base.data(), base.size()), base);
  }

  void make(std::minstd_rand& random, Bytes* out) const {
    if (by_layout_) return by_layout_->make(random, out);
    *out = base_;
    if (LLVMFuzzerCustomMutator == nullptr) {
      return mutate_bytes_with(random, other_, longest_, out);
    }
    out->resize(longest_);
    out->resize(LLVMFuzzerCustomMutator(out->data(), base_.size(), longest_,
                                        static_cast<unsigned>(random())));
  }

 private:
  const Bytes& base_;
  const Bytes& other_;
  const size_t longest_;
  std::optional<Mutants> by_layout_;
};

class Runs final {
 public:
  explicit Runs(const Options& options)
      : options_(options), random_(options.seed), start_(Clock::now()) {}

  void read() {
    for (const std::string& path : options_.paths) {
      if (!std::filesystem::is_directory(path)) {
        read(path);
        continue;
      }
      if (folder_.empty()) folder_ = path + "/";
      std::vector<std::string> files;
      for (const auto& entry : std::filesystem::directory_iterator(path)) {
        if (entry.is_regular_file()) files.push_back(entry.path().string());
      }
      std::sort(files.begin(), files.end());
      for (const std::string& file : files) read(file);
    }
    // Where there are no seeds, as libFuzzer begins.
    if (refused_.empty() && whole_.empty()) {
      const Bytes first = {0};
      execute(first);
      keep(first);
    }
    say("INITED");
  }

  void run() {
    Bytes mutant;
    uint64_t pulse = 1 << 16;
    while (!is_over()) {
      const Bytes base = choose();
      const Bytes other = choose();
      const MutantsOf mutants(base, other, options_.longest);
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < kMutants && Clock::now() - begin < kLongest; ++i) {
        mutants.make(random_, &mutant);
        if (!execute(mutant) || mutant.size() > options_.longest) continue;
        keep(mutant);
        if (!folder_.empty()) write(folder_, mutant);
      }
      if (executions_ < pulse) continue;
      pulse *= 2;
      say("pulse");
    }
    check_suspects();
    say("DONE");
    std::fprintf(console, "stat::number_of_executed_units: %llu\nstat::executed_whole: %llu\n",
                 static_cast<unsigned long long>(executions_),
                 static_cast<unsigned long long>(whole_executions));
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool is_over() const { return executions_ >= options_.runs || seconds() >= options_.seconds; }

  void read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    Bytes bytes(read.begin(), read.end());
    if (bytes.size() > options_.longest) return;
    if (execute(bytes)) keep(bytes);
  }

  // Half of the time one that is not refused, and half of the time one of the newest.
  const Bytes& choose() {
    const bool takes_whole = refused_.empty() || (!whole_.empty() && random_() % 2 == 0);
    const std::vector<Bytes>& from = takes_whole ? whole_ : refused_;
    const size_t count = from.size();
    if (random_() % 2 == 0) return from[random_() % count];
    const size_t newest = count / 8 + 1;
    return from[count - 1 - random_() % newest];
  }

  void keep(const Bytes& input) { (is_whole_ ? whole_ : refused_).push_back(input); }

  // Whether it shows something new.
  bool execute(const Bytes& input) {
    running = &input;
    seconds_of_running = 0;
    const uint64_t whole_before = whole_executions;
    const int64_t kept = call(input);
    is_whole_ = whole_executions != whole_before;
    const bool is_new = seen_.take();
    if (kept > 0) check_leak(input);
    ++executions_;
    running = nullptr;
    if (executions_ % 1024 == 0) check_memory(input);
    return is_new;
  }

  // How many more blocks of memory there are afterwards.
  static int64_t call(const Bytes& input) {
    // Exactly as long as it is, so that a sanitizer sees the first byte beyond.
    const Bytes exact(input.begin(), input.end());
    const int64_t before = blocks.load(std::memory_order_relaxed);
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
    return blocks.load(std::memory_order_relaxed) - before;
  }

  // What is made once and kept is not made again. What a cache keeps may be, and looking
  // through all memory takes longer than an input: it is done for several of them at once.
  void check_leak(const Bytes& input) {
    const int64_t kept = call(input);
    seen_.forget();
    if (kept <= 0) return;
    suspects_.push_back(input);
    const bool pays = leak_seconds_ <= kLeakShare * seconds();
    if (suspects_.size() >= (pays ? kSuspects : kMostSuspects)) check_suspects();
  }

  void check_suspects() {
    const std::vector<Bytes> suspects = std::move(suspects_);
    suspects_.clear();
    if (suspects.empty()) return;
    const double before = seconds();
    const bool leaks = __lsan_do_recoverable_leak_check() != 0;
    leak_seconds_ += seconds() - before;
    if (!leaks) return;
    for (const Bytes& suspect : suspects) {
      running = &suspect;
      if (suspects.size() == 1 || leaks_alone(suspect)) break;
    }
    end("leak-", "memory that nobody frees");
  }

  // Leaks stay where they are: another process tells whose they are.
  bool leaks_alone(const Bytes& input) const {
    const std::string path = write(options_.prefix + "suspect-", input);
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", "many", "-runs=1", path.c_str(), nullptr);
      _exit(0);
    }
    int status = 0;
    const bool leaks = child > 0 && waitpid(child, &status, 0) == child && status != 0;
    unlink(path.c_str());
    return leaks;
  }

  void check_memory(const Bytes& input) {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    running = &input;
    if (usage.ru_maxrss > kMaxKilobytes) end("oom-", "the process takes too much memory");
    running = nullptr;
  }

  void say(const char* what) const {
    std::fprintf(console, "#%llu\t%s cov: %zu corp: %zu whole: %llu exec/s: %.0f\n",
                 static_cast<unsigned long long>(executions_), what, seen_.count(),
                 refused_.size() + whole_.size(), static_cast<unsigned long long>(whole_executions),
                 static_cast<double>(executions_) / seconds());
  }

  const Options& options_;
  std::minstd_rand random_;
  const Clock::time_point start_;
  SeenEdges seen_;
  // Inputs that showed something new: refused ones, and those that were not.
  std::vector<Bytes> refused_;
  std::vector<Bytes> whole_;
  bool is_whole_ = false;
  std::string folder_;
  uint64_t executions_ = 0;
  // Inputs after which there were more blocks, since leaks were looked for.
  std::vector<Bytes> suspects_;
  double leak_seconds_ = 0;
};

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const size_t end = word.find('=');
    const std::string name = word.substr(0, end);
    const std::string value = end == std::string::npos ? "" : word.substr(end + 1);
    if (word[0] != '-') {
      options.paths.push_back(word);
    } else if (name == "-max_total_time") {
      options.seconds = std::stod(value);
    } else if (name == "-runs") {
      options.runs = std::stoull(value);
    } else if (name == "-seed") {
      options.seed = static_cast<unsigned>(std::stoul(value));
    } else if (name == "-max_len") {
      options.longest = std::stoul(value);
    } else if (name == "-artifact_prefix") {
      options.prefix = value;
    } else {
      std::fprintf(console, "no option %s\n", name.c_str());
      std::exit(2);
    }
  }
  return options;
}

}  // namespace
}  // namespace petrel::fuzz

// As libFuzzer's, of bytes in general.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  static std::minstd_rand random(1);
  std::vector<uint8_t> bytes(data, data + size);
  petrel::fuzz::mutate_bytes(random, max_size, &bytes);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

int main(int argc, char** argv) {
  using namespace petrel::fuzz;
  const Options options = read_options(argc, argv);
  artifacts = options.prefix;
  silence_product();
  watch();
  Runs runs(options);
  runs.read();
  runs.run();
  return 0;
}
