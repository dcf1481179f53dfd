// A Connection for the tests of your own code, with GoogleMock. Header-only; link GTest::gmock.
//
//   auto connection = std::make_shared<posenc::MockConnection>();
//   EXPECT_CALL(*connection, Fetch).WillOnce(Return(absl::UnavailableError("down")));
//   posenc::Client client(connection);
//
// TableBuilder (posenc/table_builder.h) makes a Table to be returned.

#ifndef POSENC_MOCK_CONNECTION_H_
#define POSENC_MOCK_CONNECTION_H_

#include "gmock/gmock.h"
#include "posenc/connection.h"

namespace posenc {
inline namespace client_v1 {

class MockConnection : public Connection {
 public:
  MOCK_METHOD(absl::StatusOr<TableDescription>, Describe, (const DescribeParams&), (override));
  MOCK_METHOD(absl::StatusOr<Table>, Fetch, (const FetchParams&), (override));
  MOCK_METHOD(absl::Status, Stream, (const StreamParams&), (override));
  MOCK_METHOD(absl::StatusOr<ModelTables>, ResolveModel, (const ResolveModelParams&), (override));
  MOCK_METHOD(absl::Status, Warm, (const WarmParams&), (override));
  MOCK_METHOD(absl::StatusOr<TablePage>, ListTables, (const ListTablesParams&), (override));
  MOCK_METHOD(absl::StatusOr<EvictedTables>, Evict, (const EvictParams&), (override));
  MOCK_METHOD(absl::StatusOr<ServerStatus>, ServerInfo, (const CallOptions&), (override));
  MOCK_METHOD(absl::StatusOr<HealthStatus>, Health, (const CallOptions&), (override));
};

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_MOCK_CONNECTION_H_
