#pragma once
// A stand-in for CUDA's driver: device memory is host memory, launches are noted, and each function
// fails on demand. It records what it was asked for.

#include <map>
#include <string>
#include <vector>

namespace hk::tests {

struct Launch {
    void *function, *stream, *context;
    unsigned grid[3], block[3], shared_bytes;
};

struct Driver {
    int devices = 2;
    std::map<std::string, int> fail;    // function: the CUresult that it returns
    std::map<std::string, int> called;  // function: how often
    std::vector<Launch> launches;
    std::vector<void *> current;       // stack of contexts
    std::map<void *, int> opt_in;      // function: shared bytes that it asked for
    std::map<void *, void *> modules;  // module: context
    size_t allocated = 0;              // pieces of memory
    std::vector<void *> waited_for;    // streams
};

Driver &driver();

void *driver_symbol(const char *name);

}  // namespace hk::tests
