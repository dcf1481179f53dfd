// Gets a model's rotary table from a posenc service, or computes it here when no service is named.
//
//   quickstart                      computes
//   quickstart localhost:50051      asks

#include <iostream>

#include "posenc/client.h"

int main(int argc, char** argv) {
  posenc::Client client(argc > 1 ? posenc::MakeConnection(argv[1]) : posenc::MakeLocalConnection());

  const absl::StatusOr<posenc::Table> rope =
      client.Get(posenc::Rope{.head_dim = 128, .max_len = 131072, .base = 500000.0});
  if (!rope.ok()) {
    std::cerr << rope.status() << '\n';
    return 1;
  }
  const std::span<const float> cos = rope->tensor<float>("cos");
  const std::span<const int64_t> shape = rope->shape("cos");
  std::cout << "table " << rope->key() << "\ncos [" << shape[0] << ", " << shape[1] << "]\n"
            << "cos of the last position, first pair: " << cos[(shape[0] - 1) * shape[1]] << '\n';
}
