// One connection of the HttpServer: reads a request's head, writes an answer, and hangs up. Never waits.
//
// Not thread-safe.

#ifndef POSENC_SERVER_APP_ADMIN_HTTP_CONNECTION_H_
#define POSENC_SERVER_APP_ADMIN_HTTP_CONNECTION_H_

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "server/app/admin/http_server.h"
#include "server/app/listeners/descriptor.h"

namespace posenc {

class HttpConnection {
 public:
  using Answer = std::function<HttpPage(const HttpRequest&)>;

  HttpConnection(Descriptor descriptor, absl::Time now);

  int descriptor() const { return descriptor_.get(); }
  // What poll(2) has to wait for.
  short events() const;
  // When it is to be closed, whatever it waits for; steady.
  absl::Time deadline() const { return deadline_; }
  // Whether it has not asked for anything yet.
  bool silent() const { return phase_ == Phase::kReading; }

  // Does what can be done at once. Returns whether the connection stays.
  bool Advance(const Answer& answer, absl::Time now);

 private:
  enum class Phase { kReading, kWriting, kLeaving };

  bool Read(const Answer& answer, absl::Time now);
  bool Write(absl::Time now);
  bool Leave();

  Descriptor descriptor_;
  Phase phase_ = Phase::kReading;
  absl::Time deadline_;
  std::string head_;
  std::string answer_;
  size_t written_ = 0;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_ADMIN_HTTP_CONNECTION_H_
