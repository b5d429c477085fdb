// What selection names for a CPU is what runs there: on this one, and by the vectors that one has.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "families/convolution/convolution.h"
#include "kernel_call.h"
#include "tests/support/conditions.h"

namespace hk::test {
namespace {

// Convolutions of all lists, types and layouts.
void each_convolution(const std::function<void(bench::Problem &, const std::string &name)> &visit) {
    for (const bench::Family &family : bench::families()) {
        if (family.folder != "convolution" || !family.has_rows) continue;
        for (const bench::Settings &settings : family.settings()) {
            for (const std::string &list : family.lists()) {
                if (list == "table") continue;
                for (const bench::CaseInfo &info : family.cases(list, settings)) {
                    const std::unique_ptr<bench::Problem> problem = info.problem();
                    visit(*problem, family.name + " " + info.name + " " +
                                        std::string(hk::name_of(settings.type)) + " " +
                                        std::string(name_of(settings.layout)));
                }
            }
        }
    }
}

TEST(SelectionOnCpus, FollowsTheVectors) {
    std::set<std::string> asking, named;
    each_convolution([&](const bench::Problem &problem, const std::string &name) {
        for (const KernelInfo &row : problem.kernels()) {
            if (asks_for(row, false) || asks_for(row, true)) asking.insert(row.name);
        }
        for (const bool avx512 : {false, true}) {
            const KernelInfo *row =
                problem.select(DeviceType::cpu, {.avx512 = avx512}, false).kernel;
            ASSERT_TRUE(row) << name;
            EXPECT_FALSE(asks_for(*row, !avx512)) << name << ": " << row->name;
            if (asks_for(*row, avx512)) named.insert(row->name);
        }
    });
    EXPECT_FALSE(asking.empty());
    std::vector<std::string> apart;  // no list has a case for the row
    std::ranges::set_symmetric_difference(named, asking, std::back_inserter(apart));
    EXPECT_EQ(apart, std::vector<std::string>());
}

TEST(SelectionOnCpus, IsWhatCallsRun) {
    constexpr double kMostWork = 4e6;
    int calls = 0;
    each_convolution([&](bench::Problem &problem, const std::string &name) {
        if (problem.work() > kMostWork || testing::Test::HasFailure()) return;
        const KernelInfo *row =
            problem.select(DeviceType::cpu, Device::cpu().limits(), false).kernel;
        ASSERT_TRUE(row) << name;
        problem.bind(placed(problem, problem.draw(), Device::cpu()));
        std::set<std::string> ran;
        const detail::KernelWatch watch(
            [&](const KernelInfo &kernel, const auto &) { ran.insert(kernel.name); });
        problem.run(nullptr);
        EXPECT_TRUE(ran.contains(row->name))
            << name << ": " << row->name << ", not " << testing::PrintToString(ran);
        calls++;
    });
    EXPECT_GE(calls, 100);
}

}  // namespace
}  // namespace hk::test
