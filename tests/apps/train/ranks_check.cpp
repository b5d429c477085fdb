// Started by mpirun: trains with all ranks, and alone with the same batches, and compares.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "tests/reference/elements.h"
#include "train/trainer.h"

namespace hk::train {
namespace {

// How far parameters may be apart: rounding, which a few steps make larger.
constexpr double kTolerance = 2e-5;

// The largest difference of parameters after some steps.
double difference(const Ranks &ranks, DataType type, int64_t batch, int64_t steps) {
    TrainOptions options;
    options.type = type;
    options.batch = batch;
    options.steps = steps;
    const DigitSets digits = read_digits(HK_DIGITS);
    Trainer together(digits, options, ranks), alone(digits, options, Ranks::alone());
    const Score of_all = together.epoch().test, of_one = alone.epoch().test;
    const auto a = reference::read(together.network().parameters());
    const auto b = reference::read(alone.network().parameters());
    double most = std::abs(of_all.loss - of_one.loss);
    for (size_t i = 0; i < a.size(); i++) most = std::max(most, std::abs(a[i] - b[i]));
    std::vector<double> sums(a);
    ranks.sum(sums);
    for (size_t i = 0; i < a.size(); i++) {
        if (sums[i] / ranks.size() != a[i]) throw Error("the ranks' parameters differ");
    }
    return most;
}

int check() {
    const Ranks ranks = Ranks::started();
    share_cores(ranks);
    bool good = true;
    for (const int64_t batch : {1, 31, 32}) {
        const double most = difference(ranks, DataType::f32, batch, 12);
        good = good && most <= kTolerance;
        if (ranks.first()) {
            std::printf("%d ranks, batch %lld: parameters differ by at most %.3g\n", ranks.size(),
                        static_cast<long long>(batch), most);
        }
    }
    return good ? 0 : 1;
}

}  // namespace
}  // namespace hk::train

int main() {
    try {
        return hk::train::check();
    } catch (const std::exception &error) {
        std::cerr << "ranks_check: " << error.what() << '\n';
        return 1;
    }
}
