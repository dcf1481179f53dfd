#include "client/cli/output/output.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace posenc::cli {
namespace {

// The file that a signal's handler removes: plain memory, since a handler may not allocate or lock.
char unfinished_path[4096];
volatile std::sig_atomic_t unfinished = 0;

void RemoveUnfinished(int signal) {
  if (unfinished != 0) unlink(unfinished_path);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void GuardAgainstSignals(const std::string& path) {
  if (path.size() >= sizeof(unfinished_path)) return;
  std::memcpy(unfinished_path, path.c_str(), path.size() + 1);
  unfinished = 1;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A shell's background job, or nohup, ignores signals on purpose.
    if (std::signal(signal, RemoveUnfinished) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

// Follows symbolic links; the file at their end need not exist.
std::string FollowLinks(const std::string& path) {
  constexpr int kMostLinks = 40;  // the kernel's own limit
  std::filesystem::path followed = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(followed, error); ++i) {
    followed = followed.parent_path() / std::filesystem::read_symlink(followed, error);
  }
  return followed.string();
}

bool IsStdout(const struct stat& file) {
  struct stat out {};
  return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == file.st_dev && out.st_ino == file.st_ino;
}

}  // namespace

Output::Output(std::string path) : path_(std::move(path)), stream_(&std::cout) {
  errno = 0;
  if (!path_.empty()) OpenFile();
}

Output::~Output() {
  if (!temporary_path_.empty()) std::remove(temporary_path_.c_str());
  unfinished = 0;
}

void Output::OpenFile() {
  struct stat old {};
  const bool exists = stat(path_.c_str(), &old) == 0;
  if (exists && IsStdout(old)) return;
  stream_ = &file_;
  // A rename alone would not ask whether the old file may be written.
  const bool refused = exists ? access(path_.c_str(), W_OK) != 0 : errno != ENOENT;
  if (refused) {
    file_.setstate(std::ios::failbit);
  } else if (exists && !S_ISREG(old.st_mode)) {
    file_.open(path_, std::ios::binary);
  } else {
    errno = 0;
    OpenBeside(FollowLinks(path_));
    if (exists && file_) chmod(temporary_path_.c_str(), old.st_mode & 07777);
  }
  open_error_ = file_ ? 0 : errno;
  if (file_) errno = 0;
}

void Output::OpenBeside(const std::string& target) {
  target_path_ = target;
  const std::string beside = absl::StrCat(target, ".", getpid(), ".part");
  GuardAgainstSignals(beside);
  file_.open(beside, std::ios::binary | std::ios::trunc);
  if (file_) temporary_path_ = beside;
}

Outcome Output::Commit() {
  const auto failed = [&] {
    // Nothing but writing has happened since the stream failed, so that errno still says why.
    const int reason = open_error_ != 0 ? open_error_ : errno != 0 ? errno : EIO;
    return FileError(absl::StrCat("cannot write ", path_.empty() ? "to stdout" : path_, ": ",
                                  std::strerror(reason)));
  };
  stream().flush();
  if (!stream()) return failed();
  if (file_.is_open()) file_.close();
  if (!file_) return failed();
  if (temporary_path_.empty()) return {};
  if (std::rename(temporary_path_.c_str(), target_path_.c_str()) != 0) return failed();
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
