#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

struct Mistake {
  const char* field;
  absl::StatusCode code;
  TableRequest table;
  Selection selection = {};
};

std::vector<Mistake> Mistakes() {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
  const Rope rope{.head_dim = 8, .max_len = 100};
  return {
      {"spec.sinusoidal.d_model", kInvalid, Sinusoidal{.d_model = 7}},
      {"spec.sinusoidal.max_len", kInvalid, Sinusoidal{.d_model = 8, .max_len = 0}},
      {"spec.rope.head_dim", kInvalid, Rope{.head_dim = -2}},
      {"spec.rope.rotary_dim", kInvalid, Rope{.head_dim = 8, .rotary_dim = 10}},
      {"spec.rope.linear.factor", kInvalid, Rope{.head_dim = 8, .scaling = LinearScaling{0}}},
      {"spec.alibi.heads", kInvalid, Alibi{.heads = 0}},
      {"spec.alibi.bias_max", kInvalid, Alibi{.heads = 8, .bias_max = 1000}},
      {"spec.element_type", kInvalid, {rope, ElementType::kComplex64}},
      {"selection.rows.end", kOutOfRange, rope, {.rows = Range{0, 101}}},
      {"selection.rows.end", kInvalid, rope, {.rows = Range{9, 3}}},
      {"selection.columns.end", kOutOfRange, rope, {.columns = Range{0, 5}}},
      {"selection.heads", kInvalid, rope, {.heads = Range{0, 1}}},
      {"selection.positions[0]", kOutOfRange, rope, {.positions = {100}}},
  };
}

TEST(ErrorsTest, ServerAndLibraryNameTheSameField) {
  const ServerProcess server;
  Client remote(MakeConnection(server.target()));
  Client local(MakeLocalConnection());
  for (const Mistake& mistake : Mistakes()) {
    for (Client* client : {&remote, &local}) {
      const absl::StatusOr<Table> table = client->Slice(mistake.table, mistake.selection);
      EXPECT_EQ(table.status().code(), mistake.code) << table.status();
      EXPECT_THAT(table, ViolatesField(mistake.field));
    }
  }
  EXPECT_OK(remote.Get(Rope{.head_dim = 8}));
}

TEST(ErrorsTest, TableThatCanNeverFitIsRefused) {
  const ServerProcess server({"--cache-bytes", "16MiB"});
  Client client(MakeConnection(server.target()));
  const absl::Status status =
      client.Warm({.specs = {TableRequest(Sinusoidal{.d_model = 8192, .max_len = 1 << 20}).spec()}});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_OK(client.Get(Rope{.head_dim = 8}));
}

TEST(ErrorsTest, ServerThatIsNotThereIsUnavailable) {
  ServerProcess server;
  const std::string target = server.target();
  server.Kill();
  Client client(MakeConnection(target, {.retry = {.max_attempts = 2}, .wait_for_ready = false}));
  const absl::StatusOr<Table> table = client.Get(Rope{.head_dim = 8});
  EXPECT_THAT(table, StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr(target)));
}

}  // namespace
}  // namespace posenc
