#include "tests/support/seed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace hk::test {
namespace {

std::string running_test() {
    const testing::TestInfo *info = testing::UnitTest::GetInstance()->current_test_info();
    return info ? std::string(info->test_suite_name()) + "." + info->name() : "";
}

// FNV-1a: the same on every machine, unlike std::hash.
uint64_t hash(const std::string &text) {
    uint64_t value = 14695981039346656037u;
    for (const char c : text) {
        value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
    return value;
}

}  // namespace

std::vector<uint64_t> seeds(int count) {
    if (const char *seed = std::getenv("HK_SEED")) {
        return {std::strtoull(seed, nullptr, 10)};
    }
    Random random(hash(running_test()));
    std::vector<uint64_t> result;
    for (int i = 0; i < count; i++) {
        result.push_back(random() % 1000000000);
    }
    return result;
}

std::string repeat_command(uint64_t seed) {
    std::error_code none;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
    return "HK_SEED=" + std::to_string(seed) + " " + program.string() +
           " --gtest_filter=" + running_test();
}

int64_t uniform(Random &random, int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(random);
}

bool one_in(Random &random, int64_t n) { return uniform(random, 1, n) == 1; }

}  // namespace hk::test
