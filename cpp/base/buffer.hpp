// Large arrays that start at 0 and lie on huge pages where the system has them: random access to many megabytes of
// weights is bound by the translation of addresses otherwise. They come from the system and go back to it when freed;
// malloc would keep up to 64 MB.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "base/hinges.hpp"

namespace ordsvm {

template <class T>
class Buffer {
 public:
  explicit Buffer(Index size) : size_(size) {
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    if (bytes >= huge_page_bytes)
      data_ = huge_pages(bytes);
    else if (bytes > 0)
      data_ = lines(bytes);
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  Index size() const { return size_; }

 private:
  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20, cache_line_bytes = 64;

  struct Free {
    void* mapped = nullptr;
    std::size_t bytes = 0;
    void operator()([[maybe_unused]] T* data) const {
#ifdef __linux__
      if (mapped != nullptr) {
        munmap(mapped, bytes);
        return;
      }
#endif
      ::operator delete(data, std::align_val_t{cache_line_bytes});
    }
  };
  using Owned = std::unique_ptr<T[], Free>;

  static Owned lines(std::size_t bytes) {
    void* const data = ::operator new(bytes, std::align_val_t{cache_line_bytes});
    std::memset(data, 0, bytes);
    return Owned(static_cast<T*>(data));
  }

#ifdef __linux__
  /// A mapping is aligned to small pages only, so it is one huge page longer than need be.
  static Owned huge_pages(std::size_t bytes) {
    void* const mapped =
        mmap(nullptr, bytes + huge_page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    void* const data = static_cast<char*>(mapped) +
                       (huge_page_bytes - reinterpret_cast<std::uintptr_t>(mapped) % huge_page_bytes) % huge_page_bytes;
    madvise(data, bytes, MADV_HUGEPAGE);
    return Owned(static_cast<T*>(data), Free{mapped, bytes + huge_page_bytes});
  }
#else
  static Owned huge_pages(std::size_t bytes) { return lines(bytes); }
#endif

  Index size_;
  Owned data_;
};

}  // namespace ordsvm
