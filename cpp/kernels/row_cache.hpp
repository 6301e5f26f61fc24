// A cache of kernel rows with a byte budget that it never exceeds.
//
// `pin(i)` hands out row i, computed if need be, and keeps it in place until the pin goes. The row that
// has been unpinned for the longest is evicted. Safe for several threads: rows are computed outside the
// lock, and a thread that pins a row in the making waits for it. A thread may hold `capacity / threads`
// pins; a pin beyond the capacity waits until another thread releases one.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/row_source.hpp"

namespace ordsvm {

template <class T>
class RowCache {
 public:
  class Pin {
   public:
    Pin(Pin&& other) noexcept
        : cache_(std::exchange(other.cache_, nullptr)), slot_(other.slot_), values_(other.values_) {}
    Pin(const Pin&) = delete;
    Pin& operator=(Pin) = delete;
    ~Pin() {
      if (cache_) cache_->release(slot_);
    }
    const T* data() const { return values_; }

   private:
    friend class RowCache;
    Pin(RowCache* cache, int slot) : cache_(cache), slot_(slot), values_(cache->slots_[slot].values.get()) {}
    RowCache* cache_;
    int slot_;
    const T* values_;
  };

  RowCache(const RowSource& source, std::size_t budget_bytes)
      : source_(source), budget_(budget_bytes), capacity_(rows_in(budget_bytes)), slot_of_(source.size(), -1) {
    slots_.reserve(capacity_);  // never moved: rows are filled in without the lock
  }

  const RowSource& source() const { return source_; }
  std::size_t budget() const { return budget_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return slots_.size(); }
  Index rows_computed() const { return rows_computed_.load(std::memory_order_relaxed); }
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return slots_.size() * sizeof(T) * source_.size();
  }

  Pin pin(Index i) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const int slot = slot_of_[i];
      if (slot >= 0 && slots_[slot].ready) {
        hold(slot);
        return Pin(this, slot);
      }
      if (slot < 0) {
        const int empty = take_slot();
        if (empty >= 0) return compute(i, empty, lock);
      }
      changed_.wait(lock);
    }
  }

  /// Row i if it is there.
  std::optional<Pin> pin_if_cached(Index i) {
    const std::lock_guard lock(mutex_);
    const int slot = slot_of_[i];
    if (slot < 0 || !slots_[slot].ready) return std::nullopt;
    hold(slot);
    return Pin(this, slot);
  }

  // For one thread alone, while no row is pinned:

  /// Reserves so many bytes of the budget for other uses, but keeps a capacity of two rows. Drops all rows if there are
  /// more than the capacity.
  void leave(std::size_t bytes) {
    capacity_ = std::max(std::min<std::size_t>(2, rows_in(budget_)), rows_in(budget_ - std::min(budget_, bytes)));
    if (slots_.size() <= capacity_) return;
    slots_.clear();
    std::fill(slot_of_.begin(), slot_of_.end(), -1);
    oldest_ = newest_ = -1;
  }

  /// Row i if it is there; it stays until another row is added or pinned.
  const T* find(Index i) const { return slot_of_[i] < 0 ? nullptr : slots_[slot_of_[i]].values.get(); }

  /// Row i, which is there, is the last to be evicted.
  void touch(Index i) {
    remove(slot_of_[i]);
    append(slot_of_[i]);
  }

  /// Takes over row i, which is not there; at capacity the oldest row is evicted.
  void add(Index i, std::unique_ptr<T[]> values) {
    int slot = oldest_;
    if (slots_.size() < capacity_) {
      slot = static_cast<int>(slots_.size());
      slots_.emplace_back();
    } else {
      remove(slot);
      if (slots_[slot].row >= 0) slot_of_[slots_[slot].row] = -1;
    }
    slots_[slot].values = std::move(values);
    slots_[slot].row = i;
    slots_[slot].ready = true;
    slot_of_[i] = slot;
    append(slot);
    rows_computed_.fetch_add(1, std::memory_order_relaxed);
  }

  /// cached[i] = whether row i is there.
  void list(std::span<char> cached) {
    const std::lock_guard lock(mutex_);
    std::fill(cached.begin(), cached.end(), 0);
    for (const Slot& slot : slots_)
      if (slot.ready) cached[slot.row] = 1;
  }

 private:
  struct Slot {
    std::unique_ptr<T[]> values;
    Index row = -1;
    int pins = 0;
    bool ready = false;
    int older = -1, newer = -1;  // neighbours in the list of unpinned slots
  };

  std::size_t rows_in(std::size_t bytes) const {
    return std::min<std::size_t>(bytes / (sizeof(T) * source_.size()), source_.size());
  }

  Pin compute(Index i, int slot, std::unique_lock<std::mutex>& lock) {
    slot_of_[i] = slot;
    slots_[slot].row = i;
    slots_[slot].pins = 1;
    lock.unlock();
    try {
      source_.row(i, std::span<T>(slots_[slot].values.get(), static_cast<std::size_t>(source_.size())));
    } catch (...) {
      lock.lock();
      slot_of_[i] = -1;
      slots_[slot].row = -1;
      slots_[slot].pins = 0;
      append(slot);
      changed_.notify_all();
      throw;
    }
    lock.lock();
    slots_[slot].ready = true;
    rows_computed_.fetch_add(1, std::memory_order_relaxed);
    changed_.notify_all();
    return Pin(this, slot);
  }

  /// An unpinned slot: a new one within the budget, else the one unpinned for the longest; -1 if there is none.
  int take_slot() {
    if (slots_.size() < capacity_) {
      Slot slot;
      slot.values.reset(new T[source_.size()]);
      slots_.push_back(std::move(slot));
      return static_cast<int>(slots_.size()) - 1;
    }
    const int slot = oldest_;
    if (slot < 0) return -1;
    remove(slot);
    if (slots_[slot].row >= 0) slot_of_[slots_[slot].row] = -1;
    slots_[slot].ready = false;
    return slot;
  }

  void hold(int slot) {
    if (slots_[slot].pins++ == 0) remove(slot);
  }

  void release(int slot) {
    const std::lock_guard lock(mutex_);
    if (--slots_[slot].pins == 0) {
      append(slot);
      changed_.notify_all();
    }
  }

  void append(int slot) {
    slots_[slot].older = newest_;
    slots_[slot].newer = -1;
    (newest_ >= 0 ? slots_[newest_].newer : oldest_) = slot;
    newest_ = slot;
  }

  void remove(int slot) {
    const auto [older, newer] = std::pair(slots_[slot].older, slots_[slot].newer);
    (older >= 0 ? slots_[older].newer : oldest_) = newer;
    (newer >= 0 ? slots_[newer].older : newest_) = older;
  }

  const RowSource& source_;
  std::size_t budget_, capacity_;  // bytes; rows that may be there
  std::vector<int> slot_of_;
  std::vector<Slot> slots_;
  int oldest_ = -1, newest_ = -1;
  std::atomic<Index> rows_computed_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace ordsvm
