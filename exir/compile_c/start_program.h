// SPDX-License-Identifier: Apache-2.0
//
// Starts a program in a folder, with nothing to read and with a file for what it says.
//
//   const Started started = start_program({"cc", "-c", "kws.c"}, "/tmp/kws", "/tmp/kws/said.txt");
//   if (started.failed == Started::kProgram) // no such compiler: std::strerror(started.error)
//
// The functions of posix_spawn() that enter a folder came with glibc 2.29, and this runs from 2.17
// on. Between fork() and exec it does only what is safe in a process of many threads.
#ifndef PETREL_EXIR_COMPILE_C_START_PROGRAM_H_
#define PETREL_EXIR_COMPILE_C_START_PROGRAM_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace petrel::exir {

struct Started {
  enum Step { kNothing, kProcess, kInput, kOutput, kFolder, kProgram };

  pid_t pid = -1;          // for waitpid(), if nothing failed
  Step failed = kNothing;  // else there is no process any more
  int error = 0;           // errno of what failed
};

// The program is words[0], looked up in PATH as the shell does, but after the folder was entered.
// A relative `output` is one of the folder of this process.
Started start_program(const std::vector<std::string>& words, const std::string& folder,
                      const std::string& output);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_COMPILE_C_START_PROGRAM_H_
