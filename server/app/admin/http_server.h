// A small HTTP/1.1 server for pages that are rendered at once: GET and HEAD, one request for each connection.
//
// Idle peers: a server with a thread for each request stands still when some connections send nothing. Here
//           one thread looks after all connections and waits for none. There is a bound on them; when it is
//           reached, whoever has been silent for longest makes room for the next, so thousands of idle or
//           half-sent connections delay nobody. A request has five seconds to come, an answer ten to be taken.
// Threads:  `answer` is called on the server's own thread, and may not block.

#ifndef POSENC_SERVER_APP_ADMIN_HTTP_SERVER_H_
#define POSENC_SERVER_APP_ADMIN_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/app/listeners/descriptor.h"
#include "server/app/listeners/listen_address.h"
#include "server/telemetry/log.h"

namespace posenc {

struct HttpRequest {
  std::string path;   // "/metrics"
  std::string query;  // what stands behind '?'
};

struct HttpPage {
  int code = 200;  // 200, 400, 404, 405, 431 or 503
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpServerOptions {
  ListenAddress listen;
  std::string flag;            // whose address it is, for errors: "--admin-listen"
  size_t max_connections = 1;  // at least 1
  std::function<HttpPage(const HttpRequest&)> answer;
  Logger* log = nullptr;  // null logs nothing
};

class HttpServer {
 public:
  // Binds and serves. Errors: Unavailable that names the address and the reason.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Open(HttpServerOptions options);
  // Closes all connections and joins the thread.
  ~HttpServer();

  int port() const { return port_; }

 private:
  class Loop;

  HttpServer(Descriptor wake, std::unique_ptr<Loop> loop, int port);

  const Descriptor wake_;  // an eventfd that ends the loop
  std::unique_ptr<Loop> loop_;
  const int port_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_ADMIN_HTTP_SERVER_H_
