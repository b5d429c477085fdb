// That bench finds wrong results and never times one, and takes the fastest of each peer.

#include "measure_case.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data.h"
#include "hk/conv2d.h"
#include "hk/error.h"
#include "tests/conv2d/reference.h"
#include "tests/reference/elements.h"

namespace hk::bench {

namespace {

// A case with a given verdict, that counts what is asked of it.
struct FakeCase : Case {
    FakeCase(std::string failure, int &runs)
        : Case(&conv2d_kernels().front()), failure(std::move(failure)), runs(runs) {}

    double work() const override { return 1000; }
    std::map<std::string, Shape> shapes() const override { return {}; }
    Check check() override { return {0.5, failure}; }
    void run(int count) override { runs += count; }
    std::vector<Contestant> peers() override {
        const auto spin = [](int64_t length) {
            return [length](int count) {
                volatile int64_t sink;
                for (int64_t i = 0; i < count * length; ++i) sink = i;
                (void)sink;
            };
        };
        return {{"a", "slow", true, spin(100000), nullptr},
                {"a", "fast", true, spin(1000), nullptr},
                {"b", "only", true, spin(1000), nullptr},
                {"c", "another task", false, spin(1), nullptr}};
    }

    std::string failure;
    int &runs;
};

CaseInfo fake(const std::string &failure, int &runs) {
    return {"list", "name", "", 1,
            [&runs, failure] { return std::make_unique<FakeCase>(failure, runs); }};
}

TEST(MeasureCase, NeverTimesAWrongResult) {
    int runs = 0;
    const Result result =
        measure_case(family_named("conv2d"), fake("output(0) is 1, must be 2", runs), {}, {});
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(result.ns, 0);
    EXPECT_TRUE(result.peers.empty());
    EXPECT_EQ(result.failure, "output(0) is 1, must be 2");
    EXPECT_EQ(result.max_error, 0.5);
}

TEST(MeasureCase, TakesTheFastestVariantOfEachPeer) {
    int runs = 0;
    MeasureOptions options;
    options.budget_seconds = 0.01;
    const Result result = measure_case(family_named("conv2d"), fake("", runs), {}, options);
    EXPECT_GT(runs, 0);
    EXPECT_GT(result.ns, 0);
    ASSERT_EQ(result.peers.size(), 3u);
    EXPECT_EQ(result.peers.at("a").variant, "fast");
    const double fastest = std::min(result.peers.at("a").ns, result.peers.at("b").ns);
    EXPECT_LT(result.peers.at("c").ns, fastest);
    EXPECT_DOUBLE_EQ(result.ratio(), fastest / result.ns);
}

// A case that the kernel does not take.
struct Refused : FakeCase {
    using FakeCase::FakeCase;
    Check check() override { throw InvalidArgument("kernel_w is 1, the row needs 3"); }
};

TEST(MeasureCase, AnErrorIsAFailureUnlessARowWasAskedFor) {
    int runs = 0;
    const CaseInfo refused = {"list", "name", "", 1,
                              [&] { return std::make_unique<Refused>("", runs); }};
    EXPECT_FALSE(measure_case(family_named("conv2d"), refused, {}, {}).skipped);
    Settings forced;
    forced.row = "staged";
    const Result result = measure_case(family_named("conv2d"), refused, forced, {});
    EXPECT_TRUE(result.skipped);
    EXPECT_EQ(result.failure, "kernel_w is 1, the row needs 3");
}

TEST(MeasureCase, SizesThatDontFitAreBadInput) {
    const CaseInfo bad = {"list", "name", "", 1, []() -> std::unique_ptr<Case> {
                              throw InvalidArgument("conv2d: 3 groups of 8 channels");
                          }};
    try {
        measure_case(family_named("conv2d"), bad, {}, {});
        FAIL();
    } catch (const BadCase &error) {
        EXPECT_STREQ(error.what(), "name: conv2d: 3 groups of 8 channels");
    }
}

// A bit of an element's exponent, which a check has to notice. A value of 2 and more becomes almost
// 0 by the highest, which Winograd's bound may hide where sums are long: there it becomes large.
std::byte wrong_bit(const KernelInfo *row, const Tensor &result, int64_t element) {
    if (!reference::is_winograd(row)) return std::byte{0x40};
    const double value = reference::read(result)[static_cast<size_t>(element)];
    return std::byte{static_cast<unsigned char>(std::abs(value) >= 2 ? 0x20 : 0x40)};
}

void flip(const Tensor &tensor, int64_t element, std::byte bit) {
    const int64_t size = size_of(tensor.type());
    bytes_of(tensor)[element * size + size - 1] ^= bit;
}

void expect_wrong_values_are_found(const CaseInfo &info) {
    const std::unique_ptr<Problem> problem = info.problem();
    const Tensors host = problem->draw();
    const KernelInfo *row = info.select ? info.select() : nullptr;
    const auto failure = [row, judge = problem->judge(host)](const Tensors &results) {
        return judge(results, row).failure;
    };
    Tensors tensors;
    for (const Operand &operand : problem->operands()) {
        const Tensor &drawn = host[tensors.size()];
        tensors.push_back(drawn.defined() ? drawn.to(Device::cpu())
                                          : Tensor(operand.shape, operand.type));
    }
    problem->bind(tensors);
    problem->run(nullptr);
    const Tensors results = problem->results();
    EXPECT_EQ(failure(results), "");
    for (size_t i = 0; i < results.size(); ++i) {
        const int64_t last = results[i].elements() - 1;
        for (const int64_t element : {int64_t{0}, last}) {
            const std::byte bit = wrong_bit(row, results[i], element);
            flip(results[i], element, bit);
            EXPECT_NE(failure(results), "") << "result " << i << ", element " << element;
            flip(results[i], element, bit);
        }
    }
    EXPECT_EQ(failure(results), "");
}

// Of every family, type and layout.
TEST(Judge, FindsOneWrongValue) {
    for (const Family &family : families()) {
        for (const Settings &settings : family.settings()) {
            for (const CaseInfo &info : family.cases("smoke", settings)) {
                if (family.name == "topk" && info.kind != "both") continue;  // one result is left
                SCOPED_TRACE(family.name + " " + info.name + " " +
                             std::string(name_of(settings.type)) + " " +
                             std::string(name_of(settings.layout)));
                expect_wrong_values_are_found(info);
            }
        }
    }
}

// Of what is too much to compute rows are left out, never the first or the last.
TEST(Judge, FindsOneWrongValueOfManyAtBothEnds) {
    const std::pair<const char *, const char *> large[] = {
        {"conv2d", "input=1x40x40x128,weight=128x5x5x128,padding=2"},
        {"conv2d", "input=1x40x40x128,weight=256x3x3x128,padding=1"},
        {"conv2d_backward_data", "input=1x40x40x128,weight=128x5x5x128,padding=2"},
        {"conv2d_backward_data", "input=1x40x40x128,weight=256x3x3x128,padding=1"},
        {"conv2d_backward_weight", "input=1x40x40x128,weight=256x3x3x128,padding=1"},
        {"tensor_product", "voxels=2000,kernel=2,stride=2,c=256,m=512"},
        {"tensor_product_backward_data", "voxels=2000,kernel=2,stride=2,c=256,m=512"},
        {"tensor_product_backward_weight", "voxels=2000,kernel=2,stride=2,c=256,m=512"}};
    for (const auto &[family, sizes] : large) {
        SCOPED_TRACE(family);
        const CaseInfo info = family_named(family).cases(sizes, {}).front();
        EXPECT_GT(info.problem()->work() / 2, 1e8);
        expect_wrong_values_are_found(info);
    }
}

}  // namespace

}  // namespace hk::bench
