#pragma once
// Upstreams of which a test knows what they have given.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <map>

#include "hk/memory.h"
#include "memory/size_class.h"

namespace hk::tests {

using detail::SizeClass;

// Pieces of the heap that can't be joined, divided or not, of which so
// many bytes are there.
class Heap : public MemoryUpstream {
public:
    Heap(bool divides, size_t granule) : divides_(divides), granule_(granule) {}
    ~Heap() override { EXPECT_TRUE(pieces_.empty()) << pieces_.size() << " pieces lost"; }

    void *allocate(size_t bytes, void *) override {
        EXPECT_EQ(bytes % granule_, 0u);
        if (calls++ == fail_at || bytes > left) return nullptr;
        void *memory = std::aligned_alloc(SizeClass::kUnit, bytes);
        left -= bytes;
        pieces_[memory] = bytes;
        return memory;
    }
    void release(void *memory, size_t bytes) noexcept override {
        EXPECT_EQ(pieces_.at(memory), bytes);
        pieces_.erase(memory);
        left += bytes;
        std::free(memory);
    }
    size_t granule() const noexcept override { return granule_; }
    bool divides() const noexcept override { return divides_; }
    bool joins() const noexcept override { return false; }

    size_t left = size_t{1} << 40;
    int64_t calls = 0, fail_at = -1;

private:
    const bool divides_;
    const size_t granule_;
    std::map<void *, size_t> pieces_;
};

// Pieces that touch, and begin where no granule does.
class Strip : public MemoryUpstream {
public:
    ~Strip() override {
        EXPECT_EQ(released_, taken_);
        munmap(range_, kRange);
    }

    void *allocate(size_t bytes, void *) override {
        EXPECT_EQ(bytes % granule(), 0u);
        if (bytes > kRange - kStart - taken_) return nullptr;
        void *memory = range_ + kStart + taken_;
        taken_ += bytes;
        return memory;
    }
    void release(void *memory, size_t bytes) noexcept override {
        EXPECT_EQ(bytes % granule(), 0u);
        EXPECT_EQ((static_cast<char *>(memory) - range_ - kStart) % granule(), 0u);
        released_ += bytes;
    }
    size_t granule() const noexcept override { return size_t{64} << 10; }
    bool divides() const noexcept override { return true; }
    bool joins() const noexcept override { return true; }

private:
    static constexpr size_t kRange = size_t{1} << 30, kStart = 3 * SizeClass::kUnit;

    char *const range_ =
        static_cast<char *>(mmap(nullptr, kRange, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    size_t taken_ = 0, released_ = 0;
};

}  // namespace hk::tests
