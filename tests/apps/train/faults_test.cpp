// Memory that is not there, at every allocation of a step: OutOfMemory and nothing else, nothing
// lost, and training goes on as if nothing had been.

#include <gtest/gtest.h>

#include <limits>

#include "hk/memory.h"
#include "hk/softmax_cross_entropy.h"
#include "tests/reference/elements.h"
#include "train/trainer.h"

namespace hk::train {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Counts down to the allocation that fails.
int64_t until_failure = kNever;

class Failing : public MemoryUpstream {
public:
    void *allocate(size_t bytes, void *after) noexcept override {
        if (until_failure != kNever && --until_failure == 0) return nullptr;
        return heap_->allocate(bytes, after);
    }
    void release(void *memory, size_t bytes) noexcept override { heap_->release(memory, bytes); }
    size_t granule() const noexcept override { return heap_->granule(); }
    bool divides() const noexcept override { return heap_->divides(); }
    bool joins() const noexcept override { return heap_->joins(); }

private:
    std::unique_ptr<MemoryUpstream> heap_ = host_upstream(false);
};

// Without a cache every allocation asks the upstream.
class Faults : public testing::Test {
protected:
    Faults() {
        pool_.trim();
        pool_.set_caching(false);
        pool_.set_upstream(std::make_unique<Failing>());
    }
    ~Faults() override {
        pool_.set_upstream(host_upstream());
        pool_.set_caching(true);
    }

    MemoryPool pool_ = MemoryPool::of(Device::cpu());
};

enum class Phase { none, forward, backward, update };

// A step, in one phase of which the nth allocation fails. Returns whether it was done.
bool step(Network &network, const Batch &batch, Phase phase, int64_t n) {
    const auto fail_in = [&](Phase now) { until_failure = now == phase ? n : kNever; };
    bool done = true;
    try {
        fail_in(Phase::forward);
        Tensor logits = network.forward(batch.images);
        fail_in(Phase::none);
        softmax_cross_entropy(logits, batch.labels, {}, inplace(logits),
                              1.0F / static_cast<float>(batch.count()));
        fail_in(Phase::backward);
        network.backward(std::move(logits));
        fail_in(Phase::update);
        network.update({0.01F, 0.9F, 1e-4F, true});
    } catch (const OutOfMemory &) {
        done = false;
        network.forget();
    }
    until_failure = kNever;
    return done;
}

TEST_F(Faults, LeaveNothingBehind) {
    const DigitSets sets = read_digits(HK_DIGITS);
    Network clean(digit_layers(), DataType::f32, Device::cpu(), 1);
    Network tried(digit_layers(), DataType::f32, Device::cpu(), 1);
    int64_t first = 0;
    for (const Phase phase : {Phase::forward, Phase::backward, Phase::update}) {
        int failed = 0;
        for (int64_t n = 1; n <= 200; n++) {
            const Batch batch = batch_of(sets.train, first, 4, DataType::f32, Device::cpu());
            first = (first + 4) % (sets.train.count() - 4);
            const MemoryStatistics before = pool_.statistics();
            const auto parameters = reference::bits(tried.parameters());
            if (!step(tried, batch, phase, n)) {
                failed++;
                EXPECT_EQ(reference::bits(tried.parameters()), parameters);
                ASSERT_EQ(pool_.statistics().in_use, before.in_use) << "allocation " << n;
                ASSERT_TRUE(step(tried, batch, Phase::none, 0));
            }
            ASSERT_TRUE(step(clean, batch, Phase::none, 0));
            ASSERT_EQ(pool_.statistics().blocks, before.blocks) << "allocation " << n;
            ASSERT_EQ(reference::bits(tried.parameters()), reference::bits(clean.parameters()))
                << "phase " << static_cast<int>(phase) << ", allocation " << n;
        }
        std::printf("%d of 200 steps failed\n", failed);
        if (phase == Phase::update) {
            EXPECT_EQ(failed, 0) << "an update in place needs no memory";
        } else {
            EXPECT_GT(failed, 50);
        }
    }
}

TEST(Limit, IsAnErrorThatTrainingSurvives) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    const DigitSets sets = read_digits(HK_DIGITS);
    Trainer clean(sets, {}, Ranks::alone()), tried(sets, {}, Ranks::alone());
    const Epoch epoch(sets.train, {}, 1, 0);
    const int64_t before = pool.statistics().in_use;
    for (int64_t number = 0; number < 10; number++) {
        pool.trim();
        const int64_t room = number * (100 << 10);
        pool.set_limit(pool.statistics().reserved + room);
        EXPECT_THROW(tried.step(epoch, 32 * number, 32, 0.01), OutOfMemory) << room;
        pool.set_limit(std::numeric_limits<int64_t>::max());
        EXPECT_EQ(pool.statistics().in_use, before);
        tried.step(epoch, 32 * number, 32, 0.01);
        clean.step(epoch, 32 * number, 32, 0.01);
    }
    EXPECT_EQ(tried.fingerprint(), clean.fingerprint());
}

}  // namespace
}  // namespace hk::train
