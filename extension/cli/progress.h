// SPDX-License-Identifier: Apache-2.0
//
// Tells on a terminal what a long run is doing. Says nothing for the first
// seconds, nor when standard error is not a terminal; the line is gone when the
// work is done.
//
//   Progress progress("export");
//   progress.start("import");     // after two seconds: "petrel export: import, 2 s"
//   progress.start("optimize");
//
// A thread of its own writes the line, so that work needs no pauses. Before other
// text is printed, start("") or stop() takes the line away; fail() of console.h
// does. One at a time.
#ifndef PETREL_EXTENSION_CLI_PROGRESS_H_
#define PETREL_EXTENSION_CLI_PROGRESS_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace petrel::extension {

class Progress {
 public:
  explicit Progress(std::string verb);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The phase that begins now; "" for none, which takes the line away.
  void start(const std::string& phase);
  // Removes the line. Further calls do nothing.
  void stop();
  // stop() of the object that lives, if there is one.
  static void stop_current();

 private:
  void watch();
  void erase_line();

  const std::string verb_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string phase_;
  bool is_done_ = false;
  bool is_shown_ = false;
  std::thread thread_;  // not running when standard error is not a terminal
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_PROGRESS_H_
