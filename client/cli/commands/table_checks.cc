#include "client/cli/commands/table_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/output/number_text.h"

namespace posenc::cli {
namespace {

// Rows of which all pairs are compared: half a million of them.
constexpr int64_t kPairwiseRows = 1024;

template <typename Visit>
void ForEachNumber(const std::vector<Grid>& grids, Visit visit) {
  for (const Grid& grid : grids) {
    for (int64_t row = 0; row < grid.rows; ++row) {
      for (int64_t column = 0; column < grid.columns; ++column) {
        visit(PartValue(grid.part_type, grid.At(row, column)));
      }
    }
  }
}

std::string Short(double value) { return absl::StrFormat("%.6g", value); }

// One row of all tensors, as numbers or as bytes.
std::vector<double> RowNumbers(const std::vector<Grid>& grids, int64_t row) {
  std::vector<double> numbers;
  for (const Grid& grid : grids) {
    for (int64_t column = 0; column < grid.columns; ++column) {
      numbers.push_back(PartValue(grid.part_type, grid.At(row, column)));
    }
  }
  return numbers;
}

std::string RowBytes(const std::vector<Grid>& grids, int64_t row) {
  std::string bytes;
  for (const Grid& grid : grids) {
    const auto* begin = reinterpret_cast<const char*>(grid.At(row, 0));
    bytes.append(begin, reinterpret_cast<const char*>(grid.At(row, grid.columns)));
  }
  return bytes;
}

bool IsZero(const std::string& bytes) { return bytes.find_first_not_of('\0') == std::string::npos; }

double Distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

int64_t RowsOf(const std::vector<Grid>& grids) { return grids.empty() ? 0 : grids.front().rows; }

}  // namespace

double RoundingUnit(ElementType type) {
  switch (PartType(type)) {
    case ElementType::kF64:
      return 0x1p-53;
    case ElementType::kF16:
      return 0x1p-11;
    case ElementType::kBF16:
      return 0x1p-8;
    case ElementType::kI32:
      return 0;
    default:
      return 0x1p-24;
  }
}

CheckResult CheckFinite(const std::vector<Grid>& grids, bool may_mask) {
  int64_t numbers = 0;
  int64_t infinite = 0;
  int64_t masked = 0;
  ForEachNumber(grids, [&](double value) {
    ++numbers;
    if (std::isfinite(value)) return;
    const bool mask = may_mask && value == -std::numeric_limits<double>::infinity();
    ++(mask ? masked : infinite);
  });
  return {"finite", infinite == 0,
          absl::StrCat(infinite, " of ", numbers, " are not", masked > 0 ? absl::StrCat(", ", masked, " masked") : ""),
          "0"};
}

CheckResult CheckBounded(const std::vector<Grid>& grids, double low, double high) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  ForEachNumber(grids, [&](double value) {
    if (!std::isfinite(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  });
  std::string allowed = absl::StrCat("[", Short(low), ", ", Short(high), "]");
  if (std::isinf(low)) allowed = std::isinf(high) ? "any numbers" : absl::StrCat("at most ", Short(high));
  return {"bounded", least >= low && most <= high, absl::StrCat("[", Short(least), ", ", Short(most), "]"), allowed};
}

CheckResult CheckUnique(const std::vector<Grid>& grids) {
  std::unordered_map<std::string, int64_t> seen;
  CheckResult result{"unique", true, absl::StrCat(RowsOf(grids), " rows, no two alike"), "no two alike"};
  for (int64_t row = 0; row < RowsOf(grids); ++row) {
    std::string bytes = RowBytes(grids, row);
    if (IsZero(bytes)) continue;
    const auto [other, added] = seen.emplace(std::move(bytes), row);
    if (added || !result.passed) continue;
    result.passed = false;
    result.found = absl::StrCat("rows ", other->second, " and ", row, " are alike");
  }
  return result;
}

CheckResult CheckDistinguishable(const std::vector<Grid>& grids) {
  std::vector<std::vector<double>> rows;
  double norm = 0;
  for (int64_t row = 0; row < std::min(RowsOf(grids), kPairwiseRows); ++row) {
    std::vector<double> numbers = RowNumbers(grids, row);
    const double length = Distance(numbers, std::vector<double>(numbers.size()));
    if (length > 0) rows.push_back(std::move(numbers));
    norm = std::max(norm, length);
  }
  double least = std::numeric_limits<double>::infinity();
  double neighbours = least;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) neighbours = std::min(neighbours, Distance(rows[i - 1], rows[i]));
    for (size_t j = 0; j < i; ++j) least = std::min(least, Distance(rows[i], rows[j]));
  }
  const double allowed = grids.empty() ? 0 : 4 * RoundingUnit(grids.front().info.element_type) * norm;
  return {"distinguishable", least > allowed,
          absl::StrCat("least distance ", Short(least), " of any two of ", rows.size(), " rows, ",
                       Short(neighbours), " of neighbours"),
          absl::StrCat("more than ", Short(allowed))};
}

CheckResult CheckCircle(const PairRows& rows, double magnitude, double unit) {
  double worst = 0;
  for (const std::complex<double>& value : rows.queries) {
    if (value == 0.0) continue;  // a row of zeros
    worst = std::max(worst, std::fabs(std::norm(value) - magnitude * magnitude));
  }
  const double allowed = 4 * unit * magnitude * magnitude;
  return {"cos2 + sin2", worst <= allowed,
          absl::StrCat("at most ", Short(worst), " from ", Short(magnitude * magnitude)),
          absl::StrCat("at most ", Short(allowed))};
}

CheckResult CheckOrigin(const PairRows& rows, int64_t row, double magnitude, double unit) {
  double worst = 0;
  for (int64_t pair = 0; pair < rows.pairs; ++pair) {
    worst = std::max(worst, std::abs(rows.Query(row, pair) - std::complex<double>(magnitude, 0)));
  }
  const double allowed = 2 * unit * magnitude;
  return {"position 0", worst <= allowed,
          absl::StrCat("at most ", Short(worst), " from cos ", Short(magnitude), ", sin 0"),
          absl::StrCat("at most ", Short(allowed))};
}

CheckResult CheckRelative(const std::string& property, const PairRows& rows, const std::vector<int64_t>& bases,
                          const std::vector<int64_t>& offsets, double unit) {
  const auto count = static_cast<int64_t>(offsets.size());
  double worst = 0;
  int64_t worst_base = 0;
  for (size_t base = 0; base < bases.size(); ++base) {
    const int64_t row = static_cast<int64_t>(base) * count;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t pair = 0; pair < rows.pairs; ++pair) {
        const std::complex<double> turn = rows.Turn(row, row + i, pair);
        const std::complex<double> first = rows.Turn(0, i, pair);
        if (turn == 0.0 || first == 0.0) continue;  // a row of zeros
        const double error = std::abs(turn - first) / std::abs(first);
        if (error <= worst) continue;
        worst = error;
        worst_base = bases[base];
      }
    }
  }
  const double allowed = 8 * unit;
  return {property, worst <= allowed,
          absl::StrCat("at most ", Short(worst), " from it, at position ", worst_base, ", of ", bases.size(),
                       " positions up to ", bases.back()),
          absl::StrCat("at most ", Short(allowed))};
}

CheckResult CheckDiagonals(const Grid& grid, int64_t queries) {
  double worst = 0;
  for (int64_t row = 1; row < grid.rows; ++row) {
    if (row % queries == 0) continue;
    for (int64_t key = 1; key < grid.columns; ++key) {
      const double here = PartValue(grid.part_type, grid.At(row, key));
      const double before = PartValue(grid.part_type, grid.At(row - 1, key - 1));
      if (here != before) worst = std::max(worst, std::fabs(here - before));
    }
  }
  return {"relative", worst == 0, absl::StrCat("at most ", Short(worst), " between equal distances"), "0"};
}

}  // namespace posenc::cli
