// A file descriptor that is closed by its owner's end. A movable value; not thread-safe.

#ifndef POSENC_SERVER_APP_LISTENERS_DESCRIPTOR_H_
#define POSENC_SERVER_APP_LISTENERS_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace posenc {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes ownership; a negative number is no descriptor.
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { Close(); }

  bool open() const { return number_ >= 0; }
  int get() const { return number_; }
  int Release() { return std::exchange(number_, -1); }
  void Close() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_DESCRIPTOR_H_
