// Where data goes: stdout, or a file that appears whole or not at all.
//
// A file is written beside its place under another name and renamed when it is complete, so that a reader
// never sees half of it, and an older file stays when writing fails.
//
// Threads: one. Ownership: an Output that is destroyed before Commit leaves nothing behind.

#ifndef POSENC_CLIENT_CLI_OUTPUT_H_
#define POSENC_CLIENT_CLI_OUTPUT_H_

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

  std::ostream& stream();

  // Completes the output. Errors: a file error that names the path and the reason.
  Outcome Commit();

 private:
  std::string path_;
  std::string temporary_path_;  // empty once there is nothing to remove
  std::ofstream file_;
  int open_error_ = 0;  // why the file could not be opened, as errno
};

// Whether a person looks at the stream.
bool IsTerminal(int file_descriptor);

// Columns of the terminal at stdout; `otherwise` where there is none.
int TerminalColumns(int otherwise);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_OUTPUT_H_
