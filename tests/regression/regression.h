// What the suites of reported faults ask and compare with.

#ifndef POSENC_TESTS_REGRESSION_REGRESSION_H_
#define POSENC_TESTS_REGRESSION_REGRESSION_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/support/matchers.h"

namespace posenc {

// The reports' own tolerance for F32, and half of the last place of a number printed with nine
// digits.
inline constexpr double kTolerance = 2e-7;
inline constexpr double kNineDigits = 5e-9;

// Tables of this process: the same code and bytes as the service's.
Client LocalClient();

// Returns an answer; an error fails the test and gives an empty table.
Table Ask(Client client, const TableRequest& request, const Selection& selection = {});
Table Ask(const TableRequest& request, const Selection& selection = {});

// The numbers of a tensor of any element type, widened; empty where it is not there.
std::vector<double> Values(const Table& table, std::string_view tensor);

// One row of a tensor: of a position, and of a real position.
std::vector<double> RowAt(const TableRequest& request, int64_t position, std::string_view tensor);
std::vector<double> RowAtReal(const TableRequest& request, double position,
                              std::string_view tensor = "table");

// Inverse frequencies as Describe tells them.
std::vector<double> Frequencies(const TableRequest& request);

// Every byte of an answer, tensor after tensor.
std::string BytesOf(const Table& table);

// The BF16 and F16 nearest to a number of ordinary size, ties to even.
double RoundToBF16(double value);
double RoundToF16(double value);

// Matches a number that was printed with nine significant digits.
MATCHER_P(IsNine, value, "is " + ::testing::PrintToString(value) + " in nine digits") {
  return std::fabs(arg - value) <= kNineDigits * std::fabs(value);
}

// Matches numbers within the reports' tolerance of F32.
inline auto AreNear(const std::vector<double>& values) {
  return ::testing::Pointwise(::testing::DoubleNear(kTolerance), values);
}

}  // namespace posenc

#endif  // POSENC_TESTS_REGRESSION_REGRESSION_H_
