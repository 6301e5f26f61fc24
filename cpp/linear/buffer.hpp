// Large arrays that start at 0 and lie on huge pages where the system has them: random access to many megabytes of
// weights is bound by the translation of addresses otherwise.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "../hinges.hpp"

namespace ordsvm::linear {

template <class T>
class Buffer {
 public:
  explicit Buffer(Index size) : size_(size) {
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T), page = bytes < huge ? 64 : huge;
    if (bytes == 0) return;
    const std::size_t rounded = (bytes + page - 1) / page * page;
    data_.reset(static_cast<T*>(std::aligned_alloc(page, rounded)));
    if (!data_) throw std::bad_alloc();
#ifdef __linux__
    if (page == huge) madvise(data_.get(), rounded, MADV_HUGEPAGE);
#endif
    std::memset(data_.get(), 0, bytes);
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  Index size() const { return size_; }

 private:
  static constexpr std::size_t huge = std::size_t{2} << 20;
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  Index size_;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace ordsvm::linear
