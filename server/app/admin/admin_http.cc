#include "server/app/admin/admin_http.h"

#include <CivetServer.h>
#include <netdb.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace posenc {
namespace {

struct Answer {
  int code = 200;
  const char* content_type = "text/plain; charset=utf-8";
  std::string body;
};

const char* ReasonOf(int code) { return code == 200 ? "OK" : "Service Unavailable"; }

// One page: answers GET, and HEAD without the body.
class Page : public CivetHandler {
 public:
  // The answer to a query string.
  using Render = std::function<Answer(absl::string_view query)>;

  explicit Page(Render render) : render_(std::move(render)) {}

  bool handleGet(CivetServer*, mg_connection* connection) override { return Send(connection, true); }
  bool handleHead(CivetServer*, mg_connection* connection) override { return Send(connection, false); }

 private:
  bool Send(mg_connection* connection, bool with_body) const {
    const char* query = mg_get_request_info(connection)->query_string;
    const Answer answer = render_(query == nullptr ? "" : query);
    const std::string head = absl::StrCat(
        "HTTP/1.1 ", answer.code, " ", ReasonOf(answer.code), "\r\nContent-Type: ", answer.content_type,
        "\r\nContent-Length: ", answer.body.size(), "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
    mg_write(connection, head.data(), head.size());
    if (with_body) mg_write(connection, answer.body.data(), answer.body.size());
    return true;
  }

  const Render render_;
};

Answer RenderMetrics(const AdminHttpOptions& options) {
  std::vector<prometheus::MetricFamily> families;
  for (const prometheus::Collectable* collector : options.collectors) {
    std::vector<prometheus::MetricFamily> more = collector->Collect();
    families.insert(families.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  const prometheus::TextSerializer serializer;
  return {200, "text/plain; version=0.0.4; charset=utf-8", serializer.Serialize(families)};
}

Answer RenderReadiness(const Lifecycle& lifecycle, absl::string_view query) {
  const bool ready = lifecycle.ready();
  const bool verbose = query == "verbose" || absl::StartsWith(query, "verbose=");
  std::string body = ready ? "ready\n" : "not ready\n";
  for (const Condition& condition : lifecycle.conditions()) {
    if (condition.met && !verbose) continue;
    absl::StrAppend(&body, condition.met ? "[+] " : "[-] ", condition.name, ": ", condition.detail, "\n");
  }
  return {ready ? 200 : 503, "text/plain; charset=utf-8", std::move(body)};
}

// Connects and leaves. The address of any interface, 0.0.0.0 or ::, leads to this host.
void Knock(const std::string& host, int port) {
  addrinfo* found = nullptr;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return;
  const int connection = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  connect(connection, found->ai_addr, found->ai_addrlen);
  close(connection);
  freeaddrinfo(found);
}

// What civetweb reports while it starts, which its exception does not tell.
class StartErrors {
 public:
  void Add(absl::string_view text) const {
    absl::MutexLock lock(&mutex_);
    if (first_.empty()) first_ = std::string(text);
  }
  std::string Reason() const {
    absl::MutexLock lock(&mutex_);
    return absl::StrContains(first_, "already in use") || absl::StrContains(first_, ": 98 ")
               ? "the address is already in use"
               : first_;
  }

 private:
  mutable absl::Mutex mutex_;
  mutable std::string first_ ABSL_GUARDED_BY(mutex_);
};

int ReportToStartErrors(const mg_connection* connection, const char* message) {
  const auto* server = static_cast<const CivetServer*>(mg_get_user_data(mg_get_context(connection)));
  if (server != nullptr && server->getUserContext() != nullptr) {
    static_cast<const StartErrors*>(server->getUserContext())->Add(message);
  }
  return 1;  // civetweb writes nothing itself
}

class CivetAdminHttp : public AdminHttp {
 public:
  // Throws CivetException when the address cannot be bound.
  CivetAdminHttp(const AdminHttpOptions& options, std::shared_ptr<const StartErrors> errors)
      : options_(options),
        errors_(std::move(errors)),
        metrics_([this](absl::string_view) { return RenderMetrics(options_); }),
        livez_([](absl::string_view) { return Answer{.body = "alive\n"}; }),
        readyz_([this](absl::string_view query) { return RenderReadiness(*options_.lifecycle, query); }),
        version_([this](absl::string_view) {
          return Answer{200, "application/json", options_.version_json};
        }),
        server_(ServerOptions(options.listen), Callbacks(), errors_.get()) {
    server_.addHandler("/metrics$", metrics_);
    server_.addHandler("/livez$", livez_);
    server_.addHandler("/readyz$", readyz_);
    server_.addHandler("/version$", version_);
  }

  // civetweb looks whether it is to stop only when somebody connects, or every two seconds: so it is
  // knocked at until it has closed.
  ~CivetAdminHttp() override {
    absl::Notification closed;
    std::thread knocker([&] {
      do {
        Knock(options_.listen.host, port_);
      } while (!closed.WaitForNotificationWithTimeout(absl::Milliseconds(20)));
    });
    server_.close();
    closed.Notify();
    knocker.join();
  }

  int port() const override { return port_; }

  void ReadPort() { port_ = server_.getListeningPorts().at(0); }

 private:
  static std::vector<std::string> ServerOptions(const ListenAddress& listen) {
    return {"listening_ports",    listen.text, "num_threads",         "4",
            "request_timeout_ms", "10000",     "enable_keep_alive",   "no",
            "enable_directory_listing", "no"};
  }
  static const CivetCallbacks* Callbacks() {
    static const CivetCallbacks* const callbacks = [] {
      auto* made = new CivetCallbacks;
      made->log_message = ReportToStartErrors;
      return made;
    }();
    return callbacks;
  }

  const AdminHttpOptions options_;
  const std::shared_ptr<const StartErrors> errors_;
  Page metrics_;
  Page livez_;
  Page readyz_;
  Page version_;
  CivetServer server_;  // last: it stops before the pages go
  int port_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AdminHttp>> StartAdminHttp(const AdminHttpOptions& options) {
  const auto errors = std::make_shared<StartErrors>();
  try {
    auto admin = std::make_unique<CivetAdminHttp>(options, errors);
    admin->ReadPort();
    return admin;
  } catch (const CivetException& exception) {
    const std::string reason = errors->Reason();
    return absl::UnavailableError(absl::StrCat("cannot listen on ", options.listen.text,
                                               " (--admin-listen): ", reason.empty() ? exception.what() : reason));
  }
}

}  // namespace posenc
