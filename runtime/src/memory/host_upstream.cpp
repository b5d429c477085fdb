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
        void *memory = map(after ? after : gap(), bytes, PROT_READ | PROT_WRITE);
        if (memory && after && memory != after) {  // somebody else is there: on with another gap
            munmap(memory, bytes);
            memory = map(gap(), bytes, PROT_READ | PROT_WRITE);
        }
        if (memory) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish too
        return memory;
    }

    void release(void *memory, size_t bytes) noexcept override { munmap(memory, bytes); }

    size_t granule() const noexcept override { return size_t{64} << 10; }
    bool divides() const noexcept override { return true; }
    bool joins() const noexcept override { return true; }

private:
    // At `wish` where that is free. Null where there is no address space left.
    static void *map(void *wish, size_t bytes, int access) noexcept {
        void *memory = mmap(wish, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? nullptr : memory;
    }

    // The start of a range that is free now and far below what the system maps next, which it does
    // downwards. Only a wish: whoever maps there first has it. Where the process may map less than
    // the whole range (RLIMIT_AS), as much as it may must be free there.
    void *gap() const noexcept {
        constexpr size_t kRange = size_t{1} << 42, kAlignment = size_t{2} << 20;
        const auto probe = [](void *wish, size_t bytes) {
            void *memory = map(wish, bytes, PROT_NONE);
            if (memory) munmap(memory, bytes);
            return memory;
        };
        size_t free = kRange + kAlignment;
        void *range = probe(nullptr, free);
        while (!range && free > granule()) range = probe(nullptr, free /= 2);
        const auto address = reinterpret_cast<size_t>(range);
        for (size_t down = kRange; down > free && down < address; down /= 2) {
            void *const wish = reinterpret_cast<void *>((address - down) / kAlignment * kAlignment);
            if (probe(wish, free) == wish) return wish;
        }
        return reinterpret_cast<void *>((address + kAlignment - 1) / kAlignment * kAlignment);
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
