#include "tests/regression/regression.h"

namespace posenc {
namespace {

template <typename T>
void Append(const Table& table, std::string_view tensor, std::vector<double>& numbers) {
  for (T value : table.tensor<T>(tensor)) {
    if constexpr (std::is_same_v<T, double>) {
      numbers.push_back(value);
    } else {
      numbers.push_back(static_cast<float>(value));
    }
  }
}

double RoundToDigits(double value, int digits) {
  const int step = std::ilogb(value) - digits + 1;
  return std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
}

std::vector<double> OneRow(const TableRequest& request, const Selection& selection,
                           std::string_view tensor) {
  return Values(Ask(request, selection), tensor);
}

}  // namespace

Client LocalClient() { return Client(MakeLocalConnection()); }

Table Ask(Client client, const TableRequest& request, const Selection& selection) {
  const absl::StatusOr<Table> table = client.Slice(request, selection);
  EXPECT_OK(table);
  return table.value_or(Table());
}

Table Ask(const TableRequest& request, const Selection& selection) {
  return Ask(LocalClient(), request, selection);
}

std::vector<double> Values(const Table& table, std::string_view tensor) {
  std::vector<double> numbers;
  Append<double>(table, tensor, numbers);
  Append<float>(table, tensor, numbers);
  Append<Half>(table, tensor, numbers);
  Append<BFloat16>(table, tensor, numbers);
  EXPECT_FALSE(numbers.empty()) << tensor;
  return numbers;
}

std::vector<double> RowAt(const TableRequest& request, int64_t position, std::string_view tensor) {
  return OneRow(request, {.positions = {position}}, tensor);
}

std::vector<double> RowAtReal(const TableRequest& request, double position,
                              std::string_view tensor) {
  return OneRow(request, {.real_positions = {position}}, tensor);
}

std::vector<double> Frequencies(const TableRequest& request) {
  const absl::StatusOr<TableDescription> description = LocalClient().Describe(request);
  EXPECT_OK(description);
  return description.ok() ? description->inverse_frequencies : std::vector<double>();
}

std::string BytesOf(const Table& table) {
  std::string all;
  for (const TensorInfo& tensor : table.tensors()) {
    const std::span<const std::byte> bytes = table.bytes(tensor.name);
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return all;
}

double RoundToBF16(double value) { return RoundToDigits(value, 8); }
double RoundToF16(double value) { return RoundToDigits(value, 11); }

}  // namespace posenc
