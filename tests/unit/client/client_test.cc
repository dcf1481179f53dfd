#include "posenc/client.h"

#include "posenc/mock_connection.h"
#include "posenc/table_builder.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Return;
using ::testing::SizeIs;

class ClientTest : public ::testing::Test {
 protected:
  std::shared_ptr<MockConnection> connection_ = std::make_shared<MockConnection>();
  Client client_{connection_};
};

TEST_F(ClientTest, GetAsksForEverything) {
  EXPECT_CALL(*connection_, Fetch)
      .WillOnce([](const FetchParams& params) -> absl::StatusOr<Table> {
        EXPECT_EQ(std::get<RopeSpec>(params.spec.family).head_dim, 64);
        EXPECT_EQ(params.spec.element_type, ElementType::kF16);
        EXPECT_FALSE(params.selection.rows.has_value());
        EXPECT_EQ(params.call.timeout, absl::Seconds(3));
        return absl::UnavailableError("down");
      });
  EXPECT_THAT(client_.Get({Rope{.head_dim = 64}, ElementType::kF16}, {.timeout = absl::Seconds(3)}),
              StatusIs(absl::StatusCode::kUnavailable, "down"));
}

TEST_F(ClientTest, GatherOfNothingMakesNoCall) {
  EXPECT_CALL(*connection_, Fetch).Times(0);
  EXPECT_THAT(client_.Gather(Rope{.head_dim = 64}, {}), ViolatesField("selection.positions"));
}

TEST_F(ClientTest, ListTablesReadsAllPages) {
  EXPECT_CALL(*connection_, ListTables(Field(&ListTablesParams::page_token, "")))
      .WillOnce(Return(TablePage{.tables = {{.key = "a"}, {.key = "b"}}, .next_page_token = "t"}));
  EXPECT_CALL(*connection_, ListTables(Field(&ListTablesParams::page_token, "t")))
      .WillOnce(Return(TablePage{.tables = {{.key = "c"}}}));
  const auto tables = client_.ListTables();
  ASSERT_OK(tables);
  EXPECT_THAT(*tables, SizeIs(3));
  EXPECT_EQ(tables->back().key, "c");
}

TEST_F(ClientTest, PagesOfTablesShareOneTime) {
  std::vector<absl::Duration> timeouts;
  EXPECT_CALL(*connection_, ListTables).Times(2).WillRepeatedly([&](const ListTablesParams& params) {
    timeouts.push_back(params.call.timeout.value_or(absl::InfiniteDuration()));
    return TablePage{.next_page_token = timeouts.size() == 1 ? "t" : ""};
  });
  EXPECT_OK(client_.ListTables({.timeout = absl::Hours(1)}));
  EXPECT_LT(timeouts[1], timeouts[0]);
}

TEST_F(ClientTest, ListTablesEndsWhenAPageRepeats) {
  EXPECT_CALL(*connection_, ListTables).WillRepeatedly(Return(TablePage{.next_page_token = "t"}));
  EXPECT_THAT(client_.ListTables(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("repeats")));
}

TEST_F(ClientTest, ListTablesEndsWhenPagesDoNot) {
  int pages = 0;
  EXPECT_CALL(*connection_, ListTables).WillRepeatedly([&](const ListTablesParams&) {
    return TablePage{.next_page_token = std::to_string(++pages)};
  });
  EXPECT_THAT(client_.ListTables(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("without an end")));
  EXPECT_EQ(pages, 10000);
}

TEST_F(ClientTest, EvictAndEvictAllAreDifferentRequests) {
  EXPECT_CALL(*connection_, Evict(AllOf(Field(&EvictParams::keys, ElementsAre("k")),
                                        Field(&EvictParams::all, false))))
      .WillOnce(Return(EvictedTables{.tables = 1}));
  EXPECT_CALL(*connection_, Evict(Field(&EvictParams::all, true)))
      .WillOnce(Return(EvictedTables{.tables = 9}));
  EXPECT_EQ(client_.Evict({"k"})->tables, 1);
  EXPECT_EQ(client_.EvictAll()->tables, 9);
}

}  // namespace
}  // namespace posenc
