// A connection that passes every call on to another one: what the connections around connections begin with,
// so that each of them has the calls alone that it changes.
//
// FetchAsync is not passed on: it would go past a Fetch that a class changes. A class that changes Fetch must
// look at Recall too, which stands for it.
// Threads and errors: those of the connection inside.

#ifndef POSENC_CLIENT_API_FORWARDING_CONNECTION_H_
#define POSENC_CLIENT_API_FORWARDING_CONNECTION_H_

#include <memory>
#include <optional>
#include <utility>

#include "posenc/connection.h"

namespace posenc {

// `Base` is Connection, or an interface that adds to it.
template <typename Base>
class ForwardingConnection : public Base {
 public:
  explicit ForwardingConnection(std::shared_ptr<Connection> inner) : inner_(std::move(inner)) {}

  absl::StatusOr<TableDescription> Describe(const DescribeParams& params) override {
    return inner_->Describe(params);
  }
  absl::StatusOr<Table> Fetch(const FetchParams& params) override { return inner_->Fetch(params); }
  absl::Status Stream(const StreamParams& params) override { return inner_->Stream(params); }
  absl::StatusOr<ModelTables> ResolveModel(const ResolveModelParams& params) override {
    return inner_->ResolveModel(params);
  }
  absl::Status Warm(const WarmParams& params) override { return inner_->Warm(params); }
  absl::StatusOr<TablePage> ListTables(const ListTablesParams& params) override {
    return inner_->ListTables(params);
  }
  absl::StatusOr<EvictedTables> Evict(const EvictParams& params) override { return inner_->Evict(params); }
  absl::StatusOr<ServerStatus> ServerInfo(const CallOptions& call) override { return inner_->ServerInfo(call); }
  absl::StatusOr<HealthStatus> Health(const CallOptions& call) override { return inner_->Health(call); }
  absl::StatusOr<HealthStatus> Probe(absl::Duration timeout) override { return inner_->Probe(timeout); }
  std::optional<Table> Recall(const TableSpec& spec, const Selection& selection) override {
    return inner_->Recall(spec, selection);
  }
  bool MapsTables(const CallOptions& call) override { return inner_->MapsTables(call); }

 protected:
  const std::shared_ptr<Connection> inner_;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_API_FORWARDING_CONNECTION_H_
