#pragma once
// Loops on the threads of Halide's runtime.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "HalideRuntime.h"
#include "call_context.h"

namespace hk::detail {

// one(i) for i from 0 to tasks - 1, in any order. One of the exceptions that it throws goes on to
// the caller.
template<typename One>
void parallel(int64_t tasks, One one) {
    if (tasks == 0) return;
    struct Closure {
        One &one;
        std::atomic<bool> failed{false};
        std::exception_ptr failure;  // the first
    } closure{one, false, nullptr};
    const auto task = [](void *, int i, uint8_t *bytes) {
        auto &closure = *reinterpret_cast<Closure *>(bytes);
        try {
            closure.one(int64_t{i});
        } catch (...) {
            if (!closure.failed.exchange(true)) closure.failure = std::current_exception();
        }
        return 0;
    };
    CallContext context(Device::cpu());
    halide_do_par_for(&context, task, 0, static_cast<int>(tasks),
                      reinterpret_cast<uint8_t *>(&closure));
    if (closure.failed) std::rethrow_exception(closure.failure);
}

constexpr int64_t kChunk = 4096;  // rows of a task

inline int64_t chunks_of(int64_t rows) { return (rows + kChunk - 1) / kChunk; }

// one(chunk, first, end) for ranges of rows.
template<typename One>
void each_chunk(int64_t rows, One one) {
    parallel(chunks_of(rows), [&](int64_t chunk) {
        one(chunk, chunk * kChunk, std::min(rows, (chunk + 1) * kChunk));
    });
}

}  // namespace hk::detail
