#pragma once
// What the tests of every family do with its cases (tests/support).

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <thread>
#include <tuple>
#include <type_traits>

#include "HalideRuntime.h"
#include "hk/memory.h"
#include "tests/kernels/varied_cases.h"
#include "tests/support/checked_call.h"
#include "tests/support/conditions.h"
#include "tests/support/print.h"

namespace hk::test {

inline std::vector<Device> devices_of(DeviceType type) {
    std::vector<Device> devices = Device::all();
    std::erase_if(devices, [&](Device device) { return device.type() != type; });
    return devices;
}

// On CUDA each tensor is an allocation of its own: the device in software sees accesses beside it.
inline const bool pools_off = [] {
    for (const Device device : devices_of(DeviceType::cuda))
        MemoryPool::of(device).set_caching(false);
    return true;
}();

// Those that one of the tables has rows for.
inline std::vector<Device> devices_with_rows(
    std::initializer_list<std::span<const KernelInfo>> tables) {
    std::vector<Device> devices = Device::all();
    std::erase_if(devices, [&](Device device) {
        return std::ranges::none_of(tables, [&](std::span<const KernelInfo> kernels) {
            return std::ranges::any_of(
                kernels, [&](const KernelInfo &row) { return row.device == device.type(); });
        });
    });
    return devices;
}

// Of a fixture whose parameters begin with a kind of device, of which there are to be some.
class DeviceTest : public testing::Test {
protected:
    void need(DeviceType type, std::span<const KernelInfo> kernels = {}) {
        devices_ = devices_of(type);
        if (devices_.empty()) GTEST_SKIP() << "no " << name_of(type) << " device";
        if (!kernels.empty() && std::ranges::none_of(kernels, [&](const KernelInfo &kernel) {
                return kernel.device == type;
            })) {
            GTEST_SKIP() << "no " << name_of(type) << " rows";
        }
    }

    std::vector<Device> devices_;
};

// A row, on every device that it runs on here.
class RowTest : public DeviceTest, public testing::WithParamInterface<KernelInfo> {
protected:
    void SetUp() override {
        const KernelInfo &row = GetParam();
        need(row.device);
        if (is_of_another_cpu(row)) GTEST_SKIP() << "a row for other CPUs";
    }
};

// The names of parameters: of a row, a text, a number, a device, layout or type, of a tuple of
// these.
inline std::string name_of_parameter(const KernelInfo &row) { return row.name; }
inline std::string name_of_parameter(const std::string &text) { return text; }
inline std::string name_of_parameter(int number) { return std::to_string(number); }
template<typename T>
requires std::is_enum_v<T> std::string name_of_parameter(T value) {
    return std::string(name_of(value));
}
template<typename First, typename... Rest>
std::string name_of_parameter(const std::tuple<First, Rest...> &parameters) {
    return std::apply(
        [](const First &first, const Rest &...rest) {
            return (name_of_parameter(first) + ... + ("_" + name_of_parameter(rest)));
        },
        parameters);
}
inline constexpr auto parameter_name = [](const auto &info) {
    return name_of_parameter(info.param);
};

// Runs the row on random problems that meet its conditions, until so many passed. `seen`: what
// those have that ran before.
template<typename Case, typename Request>
void check_row(const KernelInfo &row, Device device, const Request &request, int problems,
               Traits &seen) {
    const auto failed = [] { return testing::Test::HasFailure(); };
    if (of_large_problems(row.where)) problems = problems / 4 + 1;
    int passed = 0, refused = 0;
    Case last_refused;
    VariedCases<Case, Request> cases(request, std::max(problems * 20, 120), seen);
    while (const auto c = cases.next()) {
        const Outcome outcome = check(*c, device, &row);
        passed += outcome == Outcome::passed;
        if (outcome == Outcome::refused) {
            refused++;
            last_refused = *c;
        }
        if (outcome == Outcome::passed && passed == 1) {
            Case empty = *c;
            make_empty(empty);
            check(empty, device, &row);
        }
        if (failed() || passed == problems) {
            break;
        }
    }
    // A problem that meets the conditions may be refused where it is rewritten to one that does not
    // (a 1x1 filter over packed rows becomes one long row).
    EXPECT_GE(passed + (failed() ? problems : 0), std::getenv("HK_SEED") ? 0 : problems)
        << row.name << " refused " << refused << " problems that meet its conditions, the last one "
        << to_string(last_refused);
}

template<typename Case, typename Request>
void check_row(const KernelInfo &row, Device device, const Request &request, int problems) {
    Traits seen;
    check_row<Case>(row, device, request, problems, seen);
}

// Runs what selection takes on `problems` random problems; `request` of a seed, so that repeating a
// seed repeats its data.
template<typename Case, typename Request>
void check_random(Device device, int problems, Request request) {
    int checked = 0;
    for (const uint64_t seed : seeds(problems * 2)) {
        const auto c = random_case<Case>(seed, request(seed));
        if (!c) {
            continue;
        }
        check(*c, device);
        if (testing::Test::HasFailure() || ++checked == problems) {
            break;
        }
    }
    EXPECT_TRUE(testing::Test::HasFailure() || checked == problems || std::getenv("HK_SEED"))
        << checked;
}

template<typename Case, typename Request>
void check_empty(Device device, const Request &request) {
    for (const uint64_t seed : seeds(10)) {
        if (auto c = random_case<Case>(seed, request)) {
            make_empty(*c);
            check(*c, device);
        }
    }
}

// Both threads' first calls load the kernels' device code.
template<typename Case, typename Request>
void check_two_threads(Device device, const Request &request) {
    std::barrier start(2);
    const std::vector<uint64_t> all = seeds(40);
    const auto work = [&](size_t first) {
        start.arrive_and_wait();
        for (size_t i = first; i < all.size(); i += 2) {
            if (const auto c = random_case<Case>(all[i], request)) {
                check(*c, device);
            }
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
}

// What `run` returns is the same with any number of Halide's threads.
template<typename Run>
void expect_same_with_threads(const Run &run, std::initializer_list<int> all) {
    const int before = halide_set_num_threads(1);
    const auto alone = run();
    for (const int threads : all) {
        halide_set_num_threads(threads);
        EXPECT_EQ(run(), alone) << threads << " threads";
    }
    halide_set_num_threads(before);
}

}  // namespace hk::test
