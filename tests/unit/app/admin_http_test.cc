#include "server/app/admin/admin_http.h"

#include <prometheus/counter.h>
#include <prometheus/registry.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/app/admin/server_collector.h"
#include "server/app/listeners/rpc_methods.h"
#include "server/telemetry/process_collector.h"
#include "server/telemetry/rpc_metrics.h"
#include "tests/support/matchers.h"
#include "tests/unit/app/http_get.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AdminHttpTest : public testing::Test {
 protected:
  AdminHttpTest() { admin_ = *StartAdminHttp(Options("127.0.0.1:0")); }

  AdminHttpOptions Options(const std::string& address) const {
    return {.listen = *ParseListenAddress(address),
            .collectors = {&registry_, &server_, &process_},
            .lifecycle = &lifecycle_,
            .version_json = "{\"version\":\"1.2.3\"}\n"};
  }

  HttpAnswer Get(const std::string& path) const { return HttpGet(admin_->port(), path); }

  Lifecycle lifecycle_;
  std::unique_ptr<AdminHttp> admin_;

 private:
  prometheus::Registry registry_;
  RpcMetrics rpc_{registry_, ServedRpcMethods()};
  ProcessCollector process_;
  Logger log_{LogFormat::kText, LogLevel::kInfo};
  ServerCollector server_{[] { return StoreStats(); }, lifecycle_, log_, {}};
};

TEST_F(AdminHttpTest, MetricsPageIsPrometheusText) {
  const HttpAnswer page = Get("/metrics");
  EXPECT_EQ(page.code, 200);
  EXPECT_THAT(page.head, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8"));
  EXPECT_THAT(page.body, AllOf(HasSubstr("grpc_server_started_total{"), HasSubstr("posenc_ready 0"),
                               HasSubstr("process_open_fds ")));
}

TEST_F(AdminHttpTest, PromtoolHasNoComplaints) { EXPECT_EQ(PromtoolComplaints(Get("/metrics").body), ""); }

TEST_F(AdminHttpTest, EveryServedMethodHasItsSeries) {
  const std::string page = Get("/metrics").body;
  for (const RpcMethod& method : ServedRpcMethods()) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat("grpc_method=\"", method.method, "\",grpc_service=\"",
                                             method.service, "\"")));
  }
}

TEST_F(AdminHttpTest, ReadinessSaysWhatIsMissing) {
  lifecycle_.SetWarmTables(2);
  EXPECT_EQ(Get("/readyz").code, 503);
  EXPECT_THAT(Get("/readyz").body, HasSubstr("[-] warm: 0 of 2 tables ready"));
  lifecycle_.SetServing();
  EXPECT_EQ(Get("/readyz").code, 200);
  EXPECT_EQ(Get("/readyz").body, "ready\n");
  lifecycle_.SetDraining();
  EXPECT_EQ(Get("/readyz").code, 503);
  EXPECT_THAT(Get("/readyz").body, AllOf(HasSubstr("[-] not-draining"), Not(HasSubstr("[+]"))));
}

TEST_F(AdminHttpTest, VerboseReadinessListsWhatHoldsToo) {
  EXPECT_THAT(Get("/readyz?verbose").body, AllOf(HasSubstr("[-] warm"), HasSubstr("[+] not-draining")));
}

TEST_F(AdminHttpTest, LivenessVersionAndOtherPaths) {
  EXPECT_EQ(Get("/livez").code, 200);
  EXPECT_EQ(Get("/version").body, "{\"version\":\"1.2.3\"}\n");
  for (const char* path : {"/", "/metricsx", "/metrics/x", "/../etc/passwd"}) {
    EXPECT_THAT(Get(path).code, testing::AnyOf(400, 404)) << path;
  }
}

TEST_F(AdminHttpTest, LivenessNamesADeafListener) {
  lifecycle_.SetServing();
  lifecycle_.SetDeafListener("0.0.0.0:50051");
  EXPECT_EQ(Get("/livez").code, 503);
  EXPECT_THAT(Get("/livez").body, HasSubstr("0.0.0.0:50051"));
  EXPECT_EQ(Get("/readyz").code, 503);
  lifecycle_.SetDeafListener("");
  EXPECT_EQ(Get("/livez").code, 200);
  EXPECT_EQ(Get("/readyz").code, 200);
}

TEST_F(AdminHttpTest, ServesOnIpv6) {
  const auto admin = StartAdminHttp(Options("[::1]:0"));
  ASSERT_OK(admin);
  EXPECT_EQ(HttpGet((*admin)->port(), "/livez", Loopback::kIpv6).code, 200);
}

// Each of these would hold a thread for ten seconds, if each request had one.
TEST_F(AdminHttpTest, SilentAndHalfSentConnectionsDelayNobody) {
  std::vector<int> silent;
  for (int i = 0; i < 600; ++i) {
    silent.push_back(ConnectAndSend(admin_->port(), i % 2 == 0 ? "" : "GET /livez HT"));
    EXPECT_GE(silent.back(), 0);
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Get("/livez").code, 200);
  for (const int connection : silent) close(connection);
}

TEST_F(AdminHttpTest, WhatIsNoRequestIsRefused) {
  const auto first_line = [this](const std::string& request) {
    const int connection = ConnectAndSend(admin_->port(), request);
    char line[13] = {};
    recv(connection, line, 12, MSG_WAITALL);
    close(connection);
    return std::string(line);
  };
  EXPECT_EQ(first_line("nonsense\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(first_line("POST /livez HTTP/1.1\r\n\r\n"), "HTTP/1.1 405");
  EXPECT_EQ(first_line("GET /" + std::string(9000, 'x')), "HTTP/1.1 431");
}

TEST_F(AdminHttpTest, AddressInUseIsToldInOneLine) {
  const std::string address = absl::StrCat("127.0.0.1:", admin_->port());
  EXPECT_THAT(StartAdminHttp(Options(address)),
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr(address), HasSubstr("in use"))));
}

}  // namespace
}  // namespace posenc
