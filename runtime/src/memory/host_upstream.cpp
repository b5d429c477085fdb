// Memory of the system for the CPU's pool.

#include <sys/mman.h>

#include <cstdlib>

#include "hk/memory.h"
#include "memory/size_class.h"

namespace hk {

namespace {

// Pages, large ones where they fit, one after the other in a part of the address space that nothing
// else uses, so that the pool has one piece that grows.
class Pages final : public MemoryUpstream {
public:
    void *allocate(size_t bytes, void *after) override {
        if (!after) after = gap();
        void *memory =
            mmap(after, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        madvise(memory, bytes, MADV_HUGEPAGE);  // a wish too
        return memory;
    }

    void release(void *memory, size_t bytes) noexcept override { munmap(memory, bytes); }

    size_t granule() const noexcept override { return size_t{64} << 10; }
    bool divides() const noexcept override { return true; }
    bool joins() const noexcept override { return true; }

private:
    // Where the largest range is that the system grants now: the system fills such a range from its
    // other end. Only a wish: whoever maps there first has it.
    static void *gap() noexcept {
        constexpr size_t kAlignment = size_t{1} << 30;
        for (size_t bytes = size_t{1} << 42; bytes >= kAlignment; bytes /= 2) {
            void *range = mmap(nullptr, bytes + kAlignment, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (range == MAP_FAILED) continue;
            munmap(range, bytes + kAlignment);
            const auto address = reinterpret_cast<size_t>(range);
            return reinterpret_cast<void *>((address + kAlignment - 1) / kAlignment * kAlignment);
        }
        return nullptr;
    }
};

class Single final : public MemoryUpstream {
public:
    void *allocate(size_t bytes, void *) override {
        return std::aligned_alloc(detail::SizeClass::kUnit, bytes);
    }
    void release(void *memory, size_t) noexcept override { std::free(memory); }

    size_t granule() const noexcept override { return detail::SizeClass::kUnit; }
    bool divides() const noexcept override { return false; }
    bool joins() const noexcept override { return false; }
};

}  // namespace

std::unique_ptr<MemoryUpstream> host_upstream(bool pages) {
    if (pages) return std::make_unique<Pages>();
    return std::make_unique<Single>();
}

}  // namespace hk
