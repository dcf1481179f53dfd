// Memory to write tables into: mapped and touched beforehand, so that no page fault is measured.

#ifndef POSENC_TESTS_BENCH_SUPPORT_PAGES_H_
#define POSENC_TESTS_BENCH_SUPPORT_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <span>

namespace posenc::bench {

class Pages {
 public:
  explicit Pages(size_t bytes) : bytes_(bytes) {
    void* const data =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (data == MAP_FAILED) std::abort();
    data_ = static_cast<std::byte*>(data);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(data_, bytes_); }

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  std::span<std::byte> span() const { return {data_, bytes_}; }

 private:
  std::byte* data_;
  size_t bytes_;
};

}  // namespace posenc::bench

#endif  // POSENC_TESTS_BENCH_SUPPORT_PAGES_H_
