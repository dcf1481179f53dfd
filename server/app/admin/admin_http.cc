#include "server/app/admin/admin_http.h"

#include <prometheus/text_serializer.h>

#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/app/admin/http_server.h"

namespace posenc {
namespace {

HttpPage RenderMetrics(const AdminHttpOptions& options) {
  std::vector<prometheus::MetricFamily> families;
  for (const prometheus::Collectable* collector : options.collectors) {
    std::vector<prometheus::MetricFamily> more = collector->Collect();
    families.insert(families.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  const prometheus::TextSerializer serializer;
  return {200, "text/plain; version=0.0.4; charset=utf-8", serializer.Serialize(families)};
}

HttpPage RenderLiveness(const Lifecycle& lifecycle) {
  const std::string deaf = lifecycle.deaf_listener();
  if (deaf.empty()) return {.body = "alive\n"};
  return {.code = 503, .body = absl::StrCat("the listener ", deaf, " does not answer\n")};
}

HttpPage RenderReadiness(const Lifecycle& lifecycle, absl::string_view query) {
  const bool ready = lifecycle.ready();
  const bool verbose = query == "verbose" || absl::StartsWith(query, "verbose=");
  std::string body = ready ? "ready\n" : "not ready\n";
  for (const Condition& condition : lifecycle.conditions()) {
    if (condition.met && !verbose) continue;
    absl::StrAppend(&body, condition.met ? "[+] " : "[-] ", condition.name, ": ", condition.detail, "\n");
  }
  return {.code = ready ? 200 : 503, .body = std::move(body)};
}

HttpPage Render(const AdminHttpOptions& options, const HttpRequest& request) {
  if (request.path == "/metrics") return RenderMetrics(options);
  if (request.path == "/livez") return RenderLiveness(*options.lifecycle);
  if (request.path == "/readyz") return RenderReadiness(*options.lifecycle, request.query);
  if (request.path == "/version") return {200, "application/json", options.version_json};
  return {.code = 404, .body = "there are /metrics, /livez, /readyz and /version\n"};
}

class Pages : public AdminHttp {
 public:
  explicit Pages(const AdminHttpOptions& options) : options_(options) {}

  absl::Status Open() {
    auto server = HttpServer::Open(
        {.listen = options_.listen,
         .flag = "--admin-listen",
         .max_connections = options_.max_connections,
         .answer = [this](const HttpRequest& request) { return Render(options_, request); },
         .log = options_.log});
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    return absl::OkStatus();
  }

  int port() const override { return server_->port(); }

 private:
  const AdminHttpOptions options_;
  std::unique_ptr<HttpServer> server_;  // last: it stops before the pages go
};

}  // namespace

absl::StatusOr<std::unique_ptr<AdminHttp>> StartAdminHttp(const AdminHttpOptions& options) {
  auto pages = std::make_unique<Pages>(options);
  const absl::Status opened = pages->Open();
  if (!opened.ok()) return opened;
  return pages;
}

}  // namespace posenc
