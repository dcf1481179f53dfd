#include "server/app/listeners/accept_one.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

constexpr absl::Duration kLogInterval = absl::Seconds(10);

bool LacksDescriptors(int error) { return error == EMFILE || error == ENFILE; }

}  // namespace

AcceptOne::AcceptOne(std::string what, Logger* log)
    : what_(std::move(what)), log_(log), spare_(OpenSpare()) {}

AcceptOne::Result AcceptOne::From(int listener, Descriptor& connection) {
  connection = Descriptor(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.open()) return Result::kAccepted;
  int error = errno;
  if (error == EAGAIN || error == EWOULDBLOCK || error == ECONNABORTED || error == EINTR) return Result::kNobody;
  LogRefusal(std::strerror(error));
  if (LacksDescriptors(error) && spare_.open()) {
    spare_.Close();
    const Descriptor refused(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    error = refused.open() ? 0 : errno;
  }
  if (!spare_.open()) spare_ = OpenSpare();
  if (error == EAGAIN) return Result::kNobody;
  return error == 0 ? Result::kRefused : Result::kTired;
}

void AcceptOne::LogRefusal(absl::string_view reason) {
  ++refused_;
  const absl::Time now = SteadyNow();
  if (log_ == nullptr || now - logged_ < kLogInterval) return;
  log_->Warning("connections are refused", {{"listener", what_}, {"reason", reason}, {"refused", refused_}});
  logged_ = now;
  refused_ = 0;
}

Descriptor AcceptOne::OpenSpare() const { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace posenc
