#pragma once
// A heap that fails when a test wants it to. Who links failing_new.cpp has it.

#include <cstdint>

namespace hk::tests {

// The n-th allocation by operator new of this thread from here, counted from 0, throws
// std::bad_alloc, and so do all after it where `forever`; until this object goes.
class FailingNew {
public:
    explicit FailingNew(int64_t n, bool forever = false) noexcept;
    ~FailingNew();
    FailingNew(const FailingNew &) = delete;
    FailingNew &operator=(const FailingNew &) = delete;

    bool failed() const noexcept;  // whether there have been so many
};

}  // namespace hk::tests
