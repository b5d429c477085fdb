#include "tests/support/failing_new.h"

#include <cstdlib>
#include <new>

namespace {

constexpr int64_t kNever = INT64_MAX;

thread_local int64_t left = kNever;
thread_local bool lasting = false;

bool fails() {
    if (left == kNever) return false;
    left--;
    return left == -1 || (lasting && left < 0);
}

}  // namespace

namespace hk::tests {

FailingNew::FailingNew(int64_t n, bool forever) noexcept {
    left = n;
    lasting = forever;
}

FailingNew::~FailingNew() { left = kNever; }

bool FailingNew::failed() const noexcept { return left < 0; }

}  // namespace hk::tests

void *operator new(size_t bytes) {
    void *memory = fails() ? nullptr : std::malloc(bytes ? bytes : 1);
    if (!memory) throw std::bad_alloc();
    return memory;
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
