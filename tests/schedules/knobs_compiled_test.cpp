// Legal knobs make right kernels: sets of them drawn at random, compiled, and checked on small
// cases of the benchmark.

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "choice.h"
#include "compiled.h"
#include "hk/error.h"
#include "tests/support/conditions.h"
#include "tests/support/seed.h"

namespace hk::explorer {
namespace {

using bench::Case;
using schedules::Knob;
using schedules::KnobSpace;

constexpr int kSets = 1;  // of a case and row

// No smaller than the largest legal tile. The first row of each schedule that takes one is
// compiled.
const std::map<std::string, std::vector<std::string>> &shapes() {
    static const std::string k3 = ",padding=1", s2 = ",stride=2",
                             dense = "input=2x17x18x32,weight=48x3x3x32" + k3,
                             depthwise = ",weight=64x3x3x1,groups=64" + k3,
                             of_4 = ",weight=64x3x3x4,groups=16" + k3,
                             of_8 = ",weight=64x3x3x8,groups=8" + k3,
                             of_16 = ",weight=64x3x3x16,groups=4" + k3;
    static const std::vector<std::string> convolutions = {dense,
                                                          "input=1x2x3x512,weight=32x1x1x512",
                                                          "input=2x17x18x64,weight=64x1x1x64",
                                                          "input=2x17x18x64,weight=48x1x1x64",
                                                          "input=1x21x22x24,weight=40x1x1x24",
                                                          "input=2x17x18x4,weight=32x3x3x4" + k3,
                                                          "input=2x17x18x64" + depthwise,
                                                          "input=1x14x14x64" + depthwise,
                                                          "input=1x28x28x64" + depthwise,
                                                          "input=1x28x28x64" + depthwise + s2,
                                                          "input=1x9x40x64" + depthwise,
                                                          "input=1x9x40x64" + depthwise + s2,
                                                          "input=1x9x32x64" + of_4,
                                                          "input=2x17x18x64" + of_8,
                                                          "input=2x17x18x64" + of_8 + s2,
                                                          "input=1x9x28x64" + of_8 + s2,
                                                          "input=2x17x18x64" + of_16,
                                                          dense + s2,
                                                          "input=1x2x3x32770,weight=32x1x1x32770",
                                                          "input=1x2x3x32,weight=32770x1x1x32"};
    static const std::map<std::string, std::vector<std::string>> all = {
        {"conv2d", convolutions},
        {"conv2d_backward_data", convolutions},
        {"conv2d_backward_weight", convolutions},
        {"quantized_conv2d", convolutions},
        {"topk",
         {"input=70x30,k=5", "input=70x1000,k=5", "input=3x2000,k=20", "input=5x300,k=150"}},
        {"tensor_product", {"voxels=500,kernel=3,stride=1,c=24,m=70"}},
        {"tensor_product_backward_data", {"voxels=500,kernel=3,stride=1,c=24,m=70"}},
        {"tensor_product_backward_weight",
         {"voxels=500,kernel=3,stride=1,c=24,m=70", "voxels=500,kernel=3,stride=1,c=64,m=64"}},
        {"activate", {"input=40000"}},
        {"activate_backward", {"input=40000"}},
        {"sgd", {"input=40000"}},
        {"pool2d",
         {"pooling=max,input=2x33x35x70,kernel=3,stride=2,padding=1",
          "pooling=average,input=2x33x35x70,kernel=3,stride=2,padding=1",
          "pooling=average,input=2x9x13x70,kernel=9x13"}},
        {"pool2d_backward",
         {"pooling=max,input=2x33x35x70,kernel=3,stride=2,padding=1",
          "pooling=average,input=2x33x35x70,kernel=3,stride=2,padding=1",
          "pooling=average,input=2x33x35x70,kernel=2,stride=2",
          "pooling=average,input=2x9x13x70,kernel=9x13"}},
        {"softmax_cross_entropy", {"input=40x301", "input=40x19"}},
        {"group_norm", {"input=2x9x21x24,groups=3", "input=40x1x1x301,groups=1"}},
        {"group_norm_backward", {"input=2x9x21x24,groups=3", "input=40x1x1x301,groups=1"}}};
    return all;
}

std::string text_of(const std::vector<Knob> &knobs) {
    std::string text;
    for (const Knob &knob : knobs)
        text += (text.empty() ? "" : ",") + knob.name + ":" + std::to_string(knob.value);
    return text;
}

// Whether the knobs go together, and need no more registers than a sweep would compile.
bool makes_sense(const Candidate &candidate) {
    try {
        for (const schedules::Estimate &estimate : knob_space(candidate).estimates)
            if (2 * estimate.uses > 3 * estimate.has) return false;
    } catch (const std::runtime_error &error) {
        EXPECT_NE(std::string(error.what()).find("these knobs don't go together"),
                  std::string::npos)
            << candidate.name() << ": " << error.what();
        return false;
    }
    return true;
}

// Half of the row's knobs are changed.
Candidate drawn(const Candidate &row, test::Random &random) {
    const KnobSpace space = knob_space(row);
    Candidate candidate = row;
    for (int i = 0; i < 500; i++) {
        std::vector<Knob> knobs = space.knobs;
        for (Knob &knob : knobs)
            if (test::one_in(random, 2)) knob.value = test::pick(random, knob.legal);
        candidate.knobs = text_of(knobs);
        if (candidate.knobs.empty() || makes_sense(candidate)) return candidate;
    }
    ADD_FAILURE() << "500 sets of knobs don't go together: " << row.name();
    return row;
}

// How a case runs on a kernel; empty: right.
std::string failure_of(Case &test, const KernelInfo *kernel) {
    test.use(kernel);
    try {
        return test.check().failure;
    } catch (const Error &error) {
        return error.what();
    }
}

// On all of the cases that the row is to run: the candidate is compiled once.
void expect_right(const std::vector<bench::CaseInfo> &cases, const Candidate &row) {
    for (const uint64_t seed : test::seeds(kSets)) {
        test::Random random(seed);
        const Candidate candidate = drawn(row, random);
        // Where it crashes, this is what remains.
        std::printf("%s %s %s\n", candidate.family.c_str(),
                    std::string(name_of(row.layout)).c_str(), candidate.name().c_str());
        std::fflush(stdout);
        SCOPED_TRACE(candidate.family + " " + candidate.name());
        SCOPED_TRACE(test::repeat_command(seed));
        try {
            const Compiled compiled(candidate);
            for (const bench::CaseInfo &info : cases) {
                const auto test = info.prepare();  // afresh: sgd adds to what it had
                EXPECT_EQ(failure_of(*test, &compiled.kernel()), "") << info.name;
            }
        } catch (const std::runtime_error &error) {
            ADD_FAILURE() << error.what();
        }
    }
}

struct Rows {
    std::string family;
    Layout layout;
};

class RandomKnobs : public testing::TestWithParam<Rows> {};

TEST_P(RandomKnobs, MakeRightKernels) {
    bench::Settings settings;
    bench::Choice choice;
    choice.family = GetParam().family;
    const bench::Family family = bench::choose(choice, settings);
    settings.layout = GetParam().layout;
    const auto key = [](const KernelInfo &row) {
        return std::string(row.algorithm) + "/" + row.schedule;
    };
    std::vector<const KernelInfo *> rows = family.rows(settings);
    std::erase_if(rows, [](const KernelInfo *row) { return test::is_of_another_cpu(*row); });
    std::set<std::string> seen, all;
    std::map<const KernelInfo *, std::vector<bench::CaseInfo>> cases;
    for (const KernelInfo *row : rows) all.insert(key(*row));
    for (const std::string &sizes : shapes().at(family.name)) {
        for (const bench::CaseInfo &info : family.cases(sizes, settings)) {
            const auto test = info.prepare();
            for (const KernelInfo *row : rows) {
                if (!cases.contains(row) && seen.contains(key(*row))) continue;
                if (!failure_of(*test, row).empty()) continue;  // the row does not take it
                seen.insert(key(*row));
                cases[row].push_back(info);
            }
        }
    }
    for (const auto &[row, of_row] : cases) expect_right(of_row, Candidate::of(*row));
    EXPECT_EQ(seen, all) << "a schedule has no shape here";
}

std::vector<Rows> all_rows() {
    std::vector<Rows> all;
    for (const bench::Family &family : bench::families()) {
        if (!family.has_rows) continue;
        for (const Layout layout : family.layouts) all.push_back({family.name, layout});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, RandomKnobs, testing::ValuesIn(all_rows()), [](const auto &info) {
    return info.param.family + "_" + std::string(name_of(info.param.layout));
});

}  // namespace
}  // namespace hk::explorer
