#pragma once
// Seeds of random problems, and how to repeat one of them.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hk::test {

using Random = std::mt19937_64;

// `count` seeds, fixed by the name of the running test; only HK_SEED's where that is set.
std::vector<uint64_t> seeds(int count);

// The shell command that runs this test on this seed alone.
std::string repeat_command(uint64_t seed);

// Uniform in first..last, both included.
int64_t uniform(Random &random, int64_t first, int64_t last);

// True once in `n` draws.
bool one_in(Random &random, int64_t n);

template<typename T>
const T &pick(Random &random, const std::vector<T> &values) {
    return values[static_cast<size_t>(uniform(random, 0, static_cast<int64_t>(values.size()) - 1))];
}

}  // namespace hk::test
