// Views of numbers in the caller's memory, for the functions of ops.h.
//
// Elements are float, Half or BFloat16, next to each other. A vector, an array or a span of them
// converts by itself; memory of another library's type (at::BFloat16, __half) is named by type,
// address and count. Ownership: a view does not keep the memory alive.

#ifndef POSENC_NUMBERS_H_
#define POSENC_NUMBERS_H_

#include <concepts>
#include <cstdint>
#include <ranges>
#include <type_traits>

#include "posenc/elements.h"

namespace posenc {
inline namespace client_v1 {

template <typename T>
concept Number = std::same_as<T, float> || std::same_as<T, Half> || std::same_as<T, BFloat16>;

template <typename R>
concept NumberRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Number<std::ranges::range_value_t<R>>;

// Numbers that are read.
class ConstNumbers {
 public:
  ConstNumbers() = default;
  ConstNumbers(ElementType type, const void* data, int64_t size)
      : type_(type), data_(data), size_(size) {}
  template <NumberRange R>
  ConstNumbers(const R& range)  // NOLINT: implicit, as a span is
      : ConstNumbers(ElementTypeOf<std::ranges::range_value_t<R>>, std::ranges::data(range),
                     static_cast<int64_t>(std::ranges::size(range))) {}

  ElementType type() const { return type_; }
  const void* data() const { return data_; }
  int64_t size() const { return size_; }  // elements

 private:
  ElementType type_ = ElementType::kF32;
  const void* data_ = nullptr;
  int64_t size_ = 0;
};

// Numbers that are written.
class Numbers {
 public:
  Numbers() = default;
  Numbers(ElementType type, void* data, int64_t size) : type_(type), data_(data), size_(size) {}
  template <NumberRange R>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
      Numbers(R&& range)  // NOLINT: implicit, as a span is
      : Numbers(ElementTypeOf<std::ranges::range_value_t<R>>, std::ranges::data(range),
                static_cast<int64_t>(std::ranges::size(range))) {}

  operator ConstNumbers() const { return {type_, data_, size_}; }  // NOLINT

  ElementType type() const { return type_; }
  void* data() const { return data_; }
  int64_t size() const { return size_; }  // elements

 private:
  ElementType type_ = ElementType::kF32;
  void* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_NUMBERS_H_
