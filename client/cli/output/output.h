// Where data goes: stdout, or a file that appears whole or not at all.
//
// A regular file is written beside its place under another name and renamed when it is complete, so that a
// reader never sees half of it, and an older file stays when writing fails. The new file has the old one's
// mode; of a symbolic link the target is replaced. What exists and is no regular file (a pipe, a device)
// is written as it is. A name for stdout, such as /dev/stdout, is stdout.
//
// Threads: one. Ownership: an Output that is destroyed before Commit leaves nothing behind, nor does a
// program that SIGINT, SIGTERM or SIGHUP ends. At most one Output at a time.

#ifndef POSENC_CLIENT_CLI_OUTPUT_OUTPUT_H_
#define POSENC_CLIENT_CLI_OUTPUT_OUTPUT_H_

#include <fstream>
#include <ostream>
#include <string>

#include "client/cli/outcome.h"

namespace posenc::cli {

class Output {
 public:
  // An empty path is stdout.
  explicit Output(std::string path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  std::ostream& stream() { return *stream_; }

  // Completes the output. Errors: a file error that names the path and the reason.
  Outcome Commit();

 private:
  void OpenFile();
  void OpenBeside(const std::string& target);

  const std::string path_;      // as the user names it
  std::string target_path_;     // what the rename replaces
  std::string temporary_path_;  // empty when there is nothing to rename or remove
  std::ofstream file_;
  std::ostream* stream_ = nullptr;
  int open_error_ = 0;  // why the file could not be opened, as errno
};

// Whether a person looks at the stream.
bool IsTerminal(int file_descriptor);

// Columns of the terminal at stdout; `otherwise` where there is none.
int TerminalColumns(int otherwise);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_OUTPUT_OUTPUT_H_
