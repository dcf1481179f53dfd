// A generator for tests of the store: cheap rows that tell which row they are, a gate before every block,
// and a count of what was generated.
//
// Threads: any method, any thread.

#ifndef POSENC_TESTS_UNIT_TABLES_FAKE_GENERATOR_H_
#define POSENC_TESTS_UNIT_TABLES_FAKE_GENERATOR_H_

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "server/encodings/table_generator.h"

namespace posenc {

// Where generation may be stopped, and what it did. Shared by all generators of one test.
class Workshop {
 public:
  // Closes the gate: from now on every block waits before it is generated.
  void Pause() { Set([this] { paused_ = true; }); }
  void Resume() { Set([this] { paused_ = false; }); }
  // Waits until so many blocks stand before the gate.
  void AwaitPaused(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return standing_ >= count; });
  }

  int TimesGenerated(double base, int64_t first_row) {
    std::unique_lock lock(mutex_);
    return generated_[{base, first_row}];
  }
  // What was begun, by base and first row, in order.
  std::vector<std::pair<double, int64_t>> order() {
    std::unique_lock lock(mutex_);
    return order_;
  }
  int generators_made() {
    std::unique_lock lock(mutex_);
    return generators_made_;
  }

  // The system has no memory for the next so many blocks, or generators.
  void RefuseBlocks(int count) { Set([this, count] { refused_blocks_ = count; }); }
  void RefuseGenerators(int count) { Set([this, count] { refused_generators_ = count; }); }

  void PassGate(double base, int64_t first_row) {
    std::unique_lock lock(mutex_);
    ++generated_[{base, first_row}];
    order_.emplace_back(base, first_row);
    ++standing_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !paused_; });
    --standing_;
    if (refused_blocks_-- > 0) throw std::bad_alloc();
  }
  void CountGenerator() {
    std::unique_lock lock(mutex_);
    if (refused_generators_-- > 0) throw std::bad_alloc();
    ++generators_made_;
  }

 private:
  template <typename Change>
  void Set(Change change) {
    std::unique_lock lock(mutex_);
    change();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool paused_ = false;
  int standing_ = 0;
  int generators_made_ = 0;
  int refused_blocks_ = 0;
  int refused_generators_ = 0;
  std::map<std::pair<double, int64_t>, int> generated_;
  std::vector<std::pair<double, int64_t>> order_;
};

// The value of every element of a row.
inline int32_t RowValue(double base, int64_t row) {
  return static_cast<int32_t>(base * 100003.0) + static_cast<int32_t>(row);
}

class FakeGenerator final : public TableGenerator {
 public:
  FakeGenerator(const SinusoidalSpec& spec, size_t footprint_bytes, std::shared_ptr<Workshop> workshop)
      : base_(spec.base), footprint_bytes_(footprint_bytes), workshop_(std::move(workshop)) {
    shape_.row_dims = {spec.max_len};
    shape_.tensors.resize(2);
    shape_.tensors[0].name = "wide";
    shape_.tensors[0].row_shape = {spec.d_model - spec.d_model / 4};
    shape_.tensors[1].name = "narrow";
    shape_.tensors[1].row_shape = {spec.d_model / 4};
    workshop_->CountGenerator();
  }

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override { return footprint_bytes_; }

  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override {
    workshop_->PassGate(base_, first_row);
    for (size_t t = 0; t < out.size(); ++t) {
      std::byte* next = out[t];
      for (int64_t row = first_row; row < first_row + row_count; ++row) {
        const int32_t value = RowValue(base_, row);
        for (int64_t i = 0; i < shape_.tensors[t].row_elements(); ++i, next += sizeof(value)) {
          std::memcpy(next, &value, sizeof(value));
        }
      }
    }
  }
  void GenerateAt(std::span<const double>, std::span<std::byte* const>) const override {}

 private:
  const double base_;
  const size_t footprint_bytes_;
  const std::shared_ptr<Workshop> workshop_;
  TableShape shape_;
  TableFacts facts_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_TABLES_FAKE_GENERATOR_H_
