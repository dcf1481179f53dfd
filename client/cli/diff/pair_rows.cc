#include "client/cli/diff/pair_rows.h"

#include <utility>
#include <variant>

#include "client/cli/output/number_text.h"
#include "server/core/specs/normalize.h"

namespace posenc::cli {
namespace {

using Numbers = std::vector<double>;

Numbers NumbersOf(const Table& table, const std::string& tensor) {
  const std::span<const std::byte> bytes = table.bytes(tensor);
  const ElementType type = table.Find(tensor)->element_type;
  const size_t size = ElementSizeBytes(type);
  Numbers numbers(bytes.size() / size);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = PartValue(type, bytes.data() + i * size);
  return numbers;
}

std::vector<std::complex<double>> Joined(const Numbers& cosines, const Numbers& sines) {
  std::vector<std::complex<double>> pairs(cosines.size());
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = {cosines[i], sines[i]};
  return pairs;
}

void FromRope(const Table& table, PairRows& pairs) {
  const bool xpos = table.Find("q_cos") != nullptr;
  const std::string first = xpos ? "q_cos" : "cos";
  pairs.rows = table.shape(first)[0];
  pairs.pairs = table.shape(first)[1];
  pairs.queries = Joined(NumbersOf(table, first), NumbersOf(table, xpos ? "q_sin" : "sin"));
  pairs.keys = xpos ? Joined(NumbersOf(table, "k_cos"), NumbersOf(table, "k_sin")) : pairs.queries;
}

void FromSinusoidal(const SinusoidalSpec& spec, const Table& table, PairRows& pairs) {
  const Numbers numbers = NumbersOf(table, table.tensors().front().name);
  const int64_t width = spec.d_model;
  pairs.rows = table.tensors().front().shape[0];
  pairs.pairs = width / 2;
  const int64_t sines = spec.odd_width == OddWidth::kExtraSine ? (width + 1) / 2 : pairs.pairs;
  for (int64_t row = 0; row < pairs.rows; ++row) {
    for (int64_t pair = 0; pair < pairs.pairs; ++pair) {
      int64_t sine = pair;
      int64_t cosine = sines + pair;
      if (spec.order == SinusoidalOrder::kInterleaved) {
        sine = 2 * pair;
        cosine = 2 * pair + 1;
      } else if (spec.order == SinusoidalOrder::kCosSin) {
        cosine = pair;
        sine = pairs.pairs + pair;
      }
      pairs.queries.emplace_back(numbers[row * width + cosine], numbers[row * width + sine]);
    }
  }
  pairs.keys = pairs.queries;
}

}  // namespace

double PairRows::Score(int64_t query_row, int64_t key_row) const {
  double score = 0;
  for (int64_t pair = 0; pair < pairs; ++pair) score += Turn(query_row, key_row, pair).real();
  return score;
}

bool HasPairs(const FamilySpec& family) {
  return std::holds_alternative<RopeSpec>(family) || std::holds_alternative<SinusoidalSpec>(family);
}

Outcome FetchPairs(const Session& session, const Subject& subject, const Selection& selection, PairRows& pairs) {
  const absl::StatusOr<TableSpec> normalized = Normalize(subject.spec);
  if (!normalized.ok()) return RpcError(PrefixFields(normalized.status(), "spec"));
  Subject plain{subject.connection, *normalized};
  auto* rope = std::get_if<RopeSpec>(&plain.spec.family);
  if (rope != nullptr) rope->layout = RopeLayout::kSplitHalf;  // the same numbers
  Table table;
  if (Outcome outcome = FetchPart(session, plain, selection, table); !outcome.ok()) return outcome;
  if (rope != nullptr) {
    FromRope(table, pairs);
  } else {
    FromSinusoidal(std::get<SinusoidalSpec>(plain.spec.family), table, pairs);
  }
  return {};
}

}  // namespace posenc::cli
