// Tokens that nobody presents: each peer loses its own.

#include "server/tables/shared_tables.h"

#include <string>
#include <vector>

#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

class SharedTablesTest : public StoreFixture {
 protected:
  std::string Offer(SharedTables& shared, const char* peer, double base) {
    Answer<SharedTables::SharedTable> answer;
    shared.Offer(PeerId(peer), Open(1, base), absl::InfiniteFuture(), answer.Callback());
    return answer.Take().token;
  }
};

TEST_F(SharedTablesTest, ATokenIsGoodOnce) {
  UseBudget(16, 16);
  SharedTables shared(*store_);
  const std::string token = Offer(shared, "a", 100);
  EXPECT_NE(shared.Redeem(token, absl::Now()), nullptr);
  EXPECT_EQ(shared.Redeem(token, absl::Now()), nullptr);
}

TEST_F(SharedTablesTest, AskingAgainAndAgainCostsAPeerItsOwnOldestTokens) {
  UseBudget(64, 64);
  SharedTables shared(*store_);
  const std::string other = Offer(shared, "b", 99);
  std::vector<std::string> tokens;
  for (size_t i = 0; i < SharedTables::kMaxTokensOfPeer + 3; ++i) {
    tokens.push_back(Offer(shared, "a", 100 + static_cast<double>(i)));
  }
  EXPECT_NE(shared.Redeem(other, absl::Now()), nullptr);
  for (size_t i = 0; i < tokens.size(); ++i) EXPECT_EQ(shared.Redeem(tokens[i], absl::Now()) != nullptr, i >= 3);
}

TEST_F(SharedTablesTest, TokensThatAreNotPresentedMakeRoomForWhoWaits) {
  UseBudget(4, 8);
  SharedTables shared(*store_);
  for (int i = 0; i < 4; ++i) Offer(shared, "a", 100 + i);
  EXPECT_OK(Allocate(3 * kBlock, absl::Now() + absl::Seconds(8)).Status());
}

}  // namespace
}  // namespace posenc
