// Every RPC over the corners of every field that its request has: each is answered with a status that a
// client can act on, nothing is computed with a size that wrapped around, and the server goes on.

#include <google/protobuf/message.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Setter = std::function<void(Message&, const FieldDescriptor*)>;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

template <typename T>
Setter Number(void (google::protobuf::Reflection::*set)(Message*, const FieldDescriptor*, T) const,
              void (google::protobuf::Reflection::*add)(Message*, const FieldDescriptor*, T) const, T value) {
  return [=](Message& message, const FieldDescriptor* field) {
    const auto& reflection = *message.GetReflection();
    (reflection.*(field->is_repeated() ? add : set))(&message, field, value);
  };
}

std::vector<Setter> Corners(const FieldDescriptor* field) {
  using R = google::protobuf::Reflection;
  std::vector<Setter> all;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      for (const int64_t value : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0}, int64_t{1},
                                  int64_t{1} << 31, int64_t{1} << 53, kMost / 512, kMost}) {
        all.push_back(Number<int64_t>(&R::SetInt64, &R::AddInt64, value));
      }
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      for (const int32_t value : {std::numeric_limits<int32_t>::min(), -1, 0, 1, 1 << 16, (1 << 30) + 2,
                                  std::numeric_limits<int32_t>::max()}) {
        all.push_back(Number<int32_t>(&R::SetInt32, &R::AddInt32, value));
      }
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      for (const double value : {-std::numeric_limits<double>::infinity(), -1.0, -0.0, 0.0, 5e-324, 1.0,
                                 9007199254740993.0, 1.7e308, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}) {
        all.push_back(Number<double>(&R::SetDouble, &R::AddDouble, value));
      }
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      for (const bool value : {false, true}) all.push_back(Number<bool>(&R::SetBool, &R::AddBool, value));
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      for (int value = -1; value <= field->enum_type()->value_count(); ++value) {
        all.push_back(Number<int>(&R::SetEnumValue, &R::AddEnumValue, value));
      }
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      for (const std::string& value : {std::string(), std::string("{}"), std::string(3000, 'x'), std::string(2, '\0')}) {
        all.push_back([value](Message& message, const FieldDescriptor* at) {
          const auto& reflection = *message.GetReflection();
          if (at->is_repeated()) return reflection.AddString(&message, at, value);
          reflection.SetString(&message, at, value);
        });
      }
      break;
    default:
      ADD_FAILURE() << "no corners for " << field->full_name();
  }
  return all;
}

// Calls `visit` with the request as it is after each corner of each field in `message`, a part of it.
void ForEachCorner(Message& message, const std::function<void(const FieldDescriptor*)>& visit) {
  const auto& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor* field = descriptor.field(i);
    const std::unique_ptr<Message> before(message.New());
    before->CopyFrom(message);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const auto& reflection = *message.GetReflection();
      // A family's fields are visited for the requests that have this family.
      const bool other_choice = field->real_containing_oneof() != nullptr &&
                                reflection.HasOneof(message, field->real_containing_oneof()) &&
                                !reflection.HasField(message, field) && descriptor.name() == "TableSpec";
      if (other_choice) continue;
      ForEachCorner(field->is_repeated() ? *reflection.AddMessage(&message, field)
                                         : *reflection.MutableMessage(&message, field),
                    visit);
    } else {
      for (const Setter& set : Corners(field)) {
        set(message, field);
        visit(field);
        message.CopyFrom(*before);
      }
    }
    message.CopyFrom(*before);
  }
}

const char* const kSpecs[] = {
    "sinusoidal { d_model: 512 max_len: 16 }",
    "sinusoidal { d_model: 512 max_len: 9007199254740992 }",
    "rope { head_dim: 16 max_len: 16 }",
    "rope { head_dim: 128 max_len: 9007199254740992 }",
    "rope { head_dim: 16 max_len: 64 yarn { factor: 4 original_max_len: 16 } }",
    "rope { head_dim: 16 max_len: 64 axes { map: AXIS_MAP_CONTIGUOUS sections: [2, 3, 3] } }",
    "alibi { heads: 4 max_len: 16 }",
    "alibi { heads: 4096 max_len: 2097152 }",
    "learned { name: 'none' }",
    "grid_sinusoidal { d_model: 16 grid { sizes: [2, 3] } }",
    "relative_bucket { max_len: 16 t5 {} }",
    "relative_bias { heads: 4 max_len: 16 proximal {} }",
    "query_temperature { max_len: 16 }",
};

class FieldCornersTest : public RpcTest {
 protected:
  FieldCornersTest() { Restart({.budget_bytes = size_t{16} << 20, .shared_memory = true}); }

  void Call(const std::string& method, const Message& request) {
    using enum absl::StatusCode;
    // Two messages of a stream are enough: a virtual table has no end.
    const absl::Status status = CallRaw(method, request.SerializeAsString(), 2).status;
    EXPECT_THAT(status.code(), ::testing::AnyOf(kOk, kInvalidArgument, kOutOfRange, kResourceExhausted,
                                                kFailedPrecondition, kNotFound, kCancelled))
        << method << ": " << status << "\n" << request.ShortDebugString();
    ++calls_;
  }

  template <typename Request>
  void CallCorners(const std::string& method, Request request) {
    Call(method, request);
    ForEachCorner(request, [&](const FieldDescriptor*) { Call(method, request); });
    const StoreStats stats = store().stats();
    EXPECT_LE(stats.peak_bytes, stats.limit_bytes) << method;
    EXPECT_OK(GetServerInfo()) << method;
  }

  int calls_ = 0;
};

TEST_F(FieldCornersTest, EveryRpcThatTakesASpec) {
  for (const char* text : kSpecs) {
    SCOPED_TRACE(text);
    const std::string spec = std::string("spec { ") + text + " }";
    CallCorners("PositionalEncodingService/DescribeTable", ParseText<v1::DescribeTableRequest>(spec));
    CallCorners("PositionalEncodingService/GetSlice", ParseText<v1::GetSliceRequest>(spec));
    CallCorners("PositionalEncodingService/StreamSlice", ParseText<v1::StreamSliceRequest>(spec));
    CallCorners("PositionalEncodingService/OpenSharedTable", ParseText<v1::OpenSharedTableRequest>(spec));
    CallCorners("TableAdminService/WarmTables",
                ParseText<v1::WarmTablesRequest>(std::string("specs { ") + text + " }"));
    CallRaw("TableAdminService/EvictTables", ParseText<v1::EvictTablesRequest>("all: true").SerializeAsString());
  }
  EXPECT_GT(calls_, 10000);
}

TEST_F(FieldCornersTest, EveryOtherRpc) {
  CallCorners("PositionalEncodingService/ResolveModel", v1::ResolveModelRequest());
  CallCorners("PositionalEncodingService/ResolveModel",
              ParseText<v1::ResolveModelRequest>("config_json: '{\"model_type\": \"llama\"}'"));
  CallCorners("TableAdminService/ListTables", v1::ListTablesRequest());
  CallCorners("TableAdminService/EvictTables", v1::EvictTablesRequest());
  CallCorners("TableAdminService/GetServerInfo", v1::GetServerInfoRequest());
  EXPECT_GT(calls_, 40);
}

TEST_F(FieldCornersTest, ASharedTableThatNoMemoryHoldsIsRefused) {
  v1::OpenSharedTableRequest request;
  request.mutable_spec()->mutable_sinusoidal()->set_d_model(512);
  request.mutable_spec()->mutable_sinusoidal()->set_max_len(int64_t{1} << 53);
  EXPECT_THAT(OpenSharedTable(request),
              StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr("16 EiB")));
  request.mutable_spec()->mutable_sinusoidal()->set_max_len(64);
  EXPECT_OK(OpenSharedTable(request));
}

}  // namespace
}  // namespace posenc
