// Training: what may not change its bits, what it learns, and that memory stays flat.

#include "train/trainer.h"

#include <HalideRuntime.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/reference/elements.h"
#include "train/soak.h"

namespace hk::train {
namespace {

const DigitSets &sets() {
    static const DigitSets sets = read_digits(HK_DIGITS);
    return sets;
}

TrainOptions short_run(int64_t steps, uint64_t seed = 1) {
    TrainOptions options;
    options.steps = steps;
    options.seed = seed;
    return options;
}

std::string trained(const TrainOptions &options) {
    Trainer trainer(sets(), options, Ranks::alone());
    while (!trainer.done()) trainer.epoch();
    return trainer.fingerprint();
}

TEST(Trainer, GivesTheSameBitsWithAnyNumberOfThreads) {
    const std::string again = trained(short_run(60));
    for (const int threads : {1, 2, 5}) {
        const int before = halide_set_num_threads(threads);
        EXPECT_EQ(trained(short_run(60)), again) << threads << " threads";
        halide_set_num_threads(before);
    }
    EXPECT_NE(trained(short_run(60, 2)), again) << "the seed does nothing";
}

TEST(Trainer, Learns) {
    TrainOptions options;
    options.epochs = 12;
    Trainer trainer(sets(), options, Ranks::alone());
    EpochReport report;
    double seconds = 0, first_loss = 0;
    while (!trainer.done()) {
        report = trainer.epoch();
        seconds += report.seconds;
        if (first_loss == 0) first_loss = report.train.loss;
    }
    EXPECT_GE(report.test.top1, 0.97);
    EXPECT_GE(report.test.top3, report.test.top1);
    EXPECT_LT(report.train.loss, first_loss / 4);
    EXPECT_LT(seconds, 60);
    EXPECT_EQ(trainer.steps().size(), 12u * 46);
    EXPECT_NEAR(report.learning_rate, 0, 1e-6);
}

TEST(Trainer, LearnsInBf16) {
    TrainOptions options;
    options.epochs = 6;
    options.type = DataType::bf16;
    Trainer trainer(sets(), options, Ranks::alone());
    EpochReport report;
    while (!trainer.done()) report = trainer.epoch();
    EXPECT_GE(report.test.top1, 0.9);
}

TEST(Trainer, StopsAtAStep) {
    TrainOptions options = short_run(50);
    Trainer trainer(sets(), options, Ranks::alone());
    int64_t calls = 0;
    while (!trainer.done()) {
        trainer.epoch([&](int64_t step, int64_t steps, double loss) {
            calls++;
            EXPECT_LE(step, steps);
            EXPECT_EQ(steps, 46);
            EXPECT_GT(loss, 0);
        });
    }
    EXPECT_EQ(trainer.steps().size(), 50u);
    EXPECT_EQ(calls, 50);
}

TEST(Soak, StaysFlatFor3000StepsOfMixedBatchSizes) {
    SoakOptions options;
    options.steps = 3000;
    std::optional<SoakReport> first;
    SoakReport last;
    soak(sets(), options, [&](const SoakReport &report) {
        if (!first) first = report;
        last = report;
        ASSERT_EQ(report.pool.in_use, first->pool.in_use) << report.steps << " steps";
        ASSERT_EQ(report.pool.requested, first->pool.requested) << report.steps << " steps";
        ASSERT_EQ(report.pool.blocks, first->pool.blocks) << report.steps << " steps";
        ASSERT_EQ(report.pool.reserved, first->pool.reserved) << report.steps << " steps";
        ASSERT_LE(report.resident - first->resident, 2 << 20) << report.steps << " steps";
    });
    EXPECT_EQ(last.steps, 3000);
    EXPECT_LT(last.loss, 0.3);
}

}  // namespace
}  // namespace hk::train
