#include "tests/fuzz/faults.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "hk/memory.h"

namespace hk::fuzz {
namespace {

std::atomic<int> armed{static_cast<int>(Fault::none)};
std::atomic<int64_t> left{0};
std::atomic<bool> has_fired{false};

class FailingMemory : public MemoryUpstream {
public:
    void *allocate(size_t bytes, void *after) override {
        return fails(Fault::system) ? nullptr : memory_->allocate(bytes, after);
    }
    void release(void *memory, size_t bytes) noexcept override { memory_->release(memory, bytes); }
    size_t granule() const noexcept override { return memory_->granule(); }
    bool divides() const noexcept override { return memory_->divides(); }
    bool joins() const noexcept override { return memory_->joins(); }

private:
    std::unique_ptr<MemoryUpstream> memory_ = host_upstream();
};

void *allocated(size_t bytes, size_t alignment) {
    void *memory = nullptr;
    if (!fails(Fault::allocation) && static_cast<int64_t>(bytes) <= kMostBytes) {
        memory = alignment ? std::aligned_alloc(alignment,
                                                (bytes + alignment - 1) / alignment * alignment)
                           : std::malloc(bytes ? bytes : 1);
    }
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

bool fails(Fault fault) noexcept {
    if (armed.load(std::memory_order_relaxed) != static_cast<int>(fault) || --left != 0)
        return false;
    has_fired = true;
    return true;
}

void install_faults() {
    install_failing_driver();
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    pool.set_upstream(std::make_unique<FailingMemory>());
    pool.set_limit(kMostBytes);
}

void arm(Fault fault, int64_t nth) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    if (fault == Fault::system || fault == Fault::limit) pool.trim();
    if (fault == Fault::limit) pool.set_limit(pool.statistics().reserved);
    has_fired = fault == Fault::limit;
    left = nth;
    armed = static_cast<int>(fault);
}

void disarm() {
    if (armed.exchange(static_cast<int>(Fault::none)) == static_cast<int>(Fault::limit)) {
        MemoryPool::of(Device::cpu()).set_limit(kMostBytes);
    }
}

bool fired() { return has_fired; }

}  // namespace hk::fuzz

void *operator new(size_t bytes) { return hk::fuzz::allocated(bytes, 0); }
void *operator new(size_t bytes, std::align_val_t alignment) {
    return hk::fuzz::allocated(bytes, static_cast<size_t>(alignment));
}
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
    try {
        return hk::fuzz::allocated(bytes, 0);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }
