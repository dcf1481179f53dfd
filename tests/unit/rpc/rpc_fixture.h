// A real server with a real store on a free port of the loopback, and calls to it through generated stubs
// and as raw bytes. Statuses come back with the violations that travelled in their details.

#ifndef POSENC_TESTS_UNIT_RPC_RPC_FIXTURE_H_
#define POSENC_TESTS_UNIT_RPC_RPC_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/v1/positional_encoding_service.pb.h"
#include "posenc/v1/table_admin_service.pb.h"
#include "server/tables/store/table_store.h"
#include "tests/support/matchers.h"
#include "tests/support/text_proto.h"

namespace posenc {

struct ServerSettings {
  size_t budget_bytes = size_t{64} << 20;
  size_t block_bytes = size_t{64} << 10;
  size_t max_unary_bytes = limits::kDefaultMaxUnaryBytes;
  absl::Duration max_memory_wait = absl::Seconds(30);
  absl::Duration stall_timeout = absl::Seconds(60);
  bool shared_memory = false;  // OpenSharedTable makes tokens, though no socket hands them out
};

// What a call sent back, message by message, as bytes.
struct RawAnswer {
  absl::Status status;
  std::vector<std::string> messages;
};

struct StreamedSlice {
  absl::Status status;
  std::vector<v1::StreamSliceResponse> chunks;

  // The data of one tensor, chunks joined; checks that rows follow each other from `first_row`.
  std::string Data(int tensor = 0, int64_t first_row = 0) const;
  int64_t rows() const;
};

// A stream that the test reads at its own pace.
class OpenStream {
 public:
  virtual ~OpenStream() = default;
  virtual bool Read(v1::StreamSliceResponse* chunk) = 0;
  virtual void Cancel() = 0;
  virtual absl::Status Finish() = 0;
};

class RpcTest : public ::testing::Test {
 protected:
  RpcTest();
  ~RpcTest() override;

  // Replaces the server by one with other settings.
  void Restart(const ServerSettings& settings);

  TableStore& store();
  int port() const;

  // Calls; requests as text protos.
  absl::StatusOr<v1::DescribeTableResponse> DescribeTable(const std::string& request,
                                                          absl::Duration timeout = absl::Seconds(60));
  absl::StatusOr<v1::GetSliceResponse> GetSlice(const std::string& request,
                                                absl::Duration timeout = absl::Seconds(60));
  StreamedSlice StreamSlice(const std::string& request);
  std::unique_ptr<OpenStream> OpenSlice(const std::string& request);
  absl::StatusOr<v1::ResolveModelResponse> ResolveModel(const std::string& config_json);
  absl::StatusOr<v1::OpenSharedTableResponse> OpenSharedTable(const v1::OpenSharedTableRequest& request);
  absl::StatusOr<v1::ListTablesResponse> ListTables(const std::string& request);
  absl::StatusOr<std::vector<v1::WarmTablesResponse>> WarmTables(
      const std::string& request, absl::Duration timeout = absl::Seconds(60));
  absl::StatusOr<v1::EvictTablesResponse> EvictTables(const std::string& request);
  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo();

  // Sends bytes to a method such as "TableAdminService/ListTables"; cancels once `max_messages` have come.
  RawAnswer CallRaw(const std::string& method, const std::string& request, size_t max_messages = SIZE_MAX);

  // Drops every block and waits until nothing holds memory any more; false after half a minute.
  bool MemoryComesBack();

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

// Bytes of rows [first, first + count) of a tensor, straight from the generator; `spec` as a text proto.
std::string ExpectedRows(const std::string& spec, int64_t first, int64_t count, size_t tensor = 0);
std::string ExpectedPositions(const std::string& spec, const std::vector<int64_t>& positions,
                              size_t tensor = 0);

// Keeps bytes [begin, end) of every row of `row_bytes`.
std::string CutRows(const std::string& rows, size_t row_bytes, size_t begin, size_t end);

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_RPC_RPC_FIXTURE_H_
