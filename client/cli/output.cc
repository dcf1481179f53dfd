#include "client/cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace posenc::cli {

Output::Output(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  temporary_path_ = absl::StrCat(path_, ".", getpid(), ".part");
  errno = 0;
  file_.open(temporary_path_, std::ios::binary | std::ios::trunc);
  open_error_ = file_ ? 0 : errno;
}

Output::~Output() {
  if (!temporary_path_.empty()) std::remove(temporary_path_.c_str());
}

std::ostream& Output::stream() { return path_.empty() ? std::cout : file_; }

Outcome Output::Commit() {
  const auto failed = [&] {
    return FileError(absl::StrCat("cannot write ", path_.empty() ? "to stdout" : path_, ": ",
                                  std::strerror(errno)));
  };
  errno = open_error_;
  stream().flush();
  if (!stream()) return failed();
  if (path_.empty()) return {};
  file_.close();
  if (!file_ || std::rename(temporary_path_.c_str(), path_.c_str()) != 0) return failed();
  temporary_path_.clear();
  return {};
}

bool IsTerminal(int file_descriptor) { return isatty(file_descriptor) == 1; }

int TerminalColumns(int otherwise) {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

}  // namespace posenc::cli
