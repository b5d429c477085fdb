#pragma once
// A piece of a pool's memory, in use or free.

#include <cstddef>
#include <cstdint>

#include "memory/fences.h"

namespace hk::detail {

struct Block {
    char *memory = nullptr;  // a host pointer, a CUdeviceptr or a cl_mem
    size_t bytes = 0;
    const char *piece = nullptr;  // where the piece of the upstream's begins that it is of
    size_t requested = 0;         // 0 while it is free
    const char *label = nullptr;  // of its owner
    uint64_t id = 0;              // of the allocation, counted from 1 in each pool
    bool free = false;
    Block *below = nullptr, *above = nullptr;  // neighbours in one piece of the upstream's
    // In its list: free ones of a class, or those in use.
    Block *previous = nullptr, *next = nullptr;
    Fences before;  // what its earlier owners have queued
    Fences used;    // what its owner has, on callers' queues

    char *end() const { return memory + bytes; }
};

}  // namespace hk::detail
