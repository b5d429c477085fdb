#include "trainer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>

#include "hk/memory.h"
#include "hk/memory_trace.h"
#include "hk/softmax_cross_entropy.h"
#include "hk/topk.h"

namespace hk::train {
namespace {

constexpr int64_t kBest = 3;

// Sums over a batch: of the losses, and of the rows whose label is the best, or among the best.
Score sums_of(const Tensor &losses, const Tensor &best, const Tensor &labels) {
    const Tensor loss = losses.to(Device::cpu()), order = best.to(Device::cpu());
    const Tensor truth = labels.to(Device::cpu());
    Score sums;
    for (int64_t n = 0; n < truth.elements(); n++) {
        sums.loss += static_cast<double>(loss.data<float>()[n]);
        const int32_t label = truth.data<int32_t>()[n];
        const int32_t *row = order.data<int32_t>() + n * kBest;
        sums.top1 += row[0] == label;
        sums.top3 += std::find(row, row + kBest, label) != row + kBest;
    }
    return sums;
}

// The loss, and the best three classes of each digit.
struct Answers {
    explicit Answers(int64_t count, Device device)
        : losses({count}, DataType::f32, device), best({count, kBest}, DataType::s32, device) {}

    Tensor losses, best;
};

int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    int64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

void add(Score &sum, const Score &other) {
    sum.loss += other.loss;
    sum.top1 += other.top1;
    sum.top3 += other.top3;
}

}  // namespace

Memory memory_of(Device device) {
    const MemoryStatistics now = MemoryPool::of(device).statistics();
    return {now.in_use, now.peak_in_use, now.reserved, resident_bytes()};
}

Trainer::Trainer(DigitSets digits, const TrainOptions &options, Ranks ranks)
    : digits_(std::move(digits)), options_(options), ranks_(ranks), network_([&] {
          const MemoryLabel label("parameters");
          return Network(digit_layers(), options.type, options.device, options.seed);
      }()) {}

bool Trainer::stopped() const {
    return options_.steps > 0 && static_cast<int64_t>(steps_.size()) >= options_.steps;
}

double Trainer::rate(int64_t step) const {
    const int64_t an_epoch = (digits_.train.count() + options_.batch - 1) / options_.batch;
    const double warm =
        std::min(1.0, static_cast<double>(step + 1) / static_cast<double>(an_epoch));
    int64_t all = options_.epochs * an_epoch;
    if (options_.steps > 0) all = std::min(all, options_.steps);
    const double passed = static_cast<double>(step) / static_cast<double>(all);
    return options_.learning_rate * warm * (1 + std::cos(std::numbers::pi * passed)) / 2;
}

Score Trainer::step(const Epoch &epoch, int64_t first, int64_t count, double learning_rate) {
    const auto [start, size] = ranks_.part(count);
    Score sums;
    try {
        if (size > 0) {
            Batch batch = [&] {
                const MemoryLabel label("batch");
                return epoch.batch(first + start, size, options_.type, options_.device);
            }();
            sums = gradients(std::move(batch), 1.0F / static_cast<float>(count));
        } else {
            network_.gradients().fill_zero();
        }
        ranks_.sum(network_.gradients());
        const MemoryLabel label("update");
        network_.update({static_cast<float>(learning_rate), static_cast<float>(options_.momentum),
                         static_cast<float>(options_.weight_decay), true});
    } catch (...) {
        network_.forget();
        throw;
    }
    return sums;
}

// Of the sum of losses, each times `scale`.
Score Trainer::gradients(Batch batch, float scale) {
    const MemoryLabel loss("loss");
    Answers answers(batch.count(), options_.device);
    Tensor logits;
    {
        const MemoryLabel label("forward");
        logits = network_.forward(std::move(batch.images));
    }
    topk(logits, kBest, {}, answers.best);
    softmax_cross_entropy(logits, batch.labels, answers.losses, inplace(logits), scale);
    const Score sums = sums_of(answers.losses, answers.best, batch.labels);
    const MemoryLabel label("backward");
    network_.backward(std::move(logits));
    return sums;
}

Score Trainer::summed(const Score &sums, int64_t count) const {
    std::array<double, 3> all{sums.loss, sums.top1, sums.top3};
    ranks_.sum(all);
    const auto digits = static_cast<double>(count);
    return {all[0] / digits, all[1] / digits, all[2] / digits};
}

EpochReport Trainer::epoch(const Progress &progress) {
    const auto start = std::chrono::steady_clock::now();
    const MemoryPool pool = MemoryPool::of(options_.device);
    const Epoch epoch(digits_.train, options_.distortion, options_.seed, epochs_done_++);
    memory_mark("epoch " + std::to_string(epochs_done_));
    const int64_t steps = (epoch.count() + options_.batch - 1) / options_.batch;
    EpochReport report;
    Score sums;
    int64_t digits = 0, peak = 0;
    std::vector<double> losses;
    const size_t before = steps_.size();
    for (int64_t first = 0; first < epoch.count() && !stopped(); first += options_.batch) {
        const int64_t count = std::min(options_.batch, epoch.count() - first);
        report.learning_rate = rate(static_cast<int64_t>(steps_.size()));
        pool.reset_peaks();
        memory_mark("step " + std::to_string(steps_.size() + 1));
        const Score part = step(epoch, first, count, report.learning_rate);
        add(sums, part);
        digits += count;
        losses.push_back(part.loss / static_cast<double>(count));
        steps_.push_back({0, memory_of(options_.device)});
        peak = std::max(peak, steps_.back().memory.peak);
        if (progress) {
            progress(static_cast<int64_t>(losses.size()), steps,
                     sums.loss * ranks_.size() / static_cast<double>(digits));
        }
    }
    ranks_.sum(losses);
    for (size_t i = 0; i < losses.size(); i++) steps_[before + i].loss = losses[i];
    report.train = summed(sums, digits);
    report.test = test();
    report.memory = memory_of(options_.device);
    report.memory.peak = std::max(peak, report.memory.peak);
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

Score Trainer::test() {
    constexpr int64_t at_once = 32;
    const MemoryLabel label("test");
    const auto [start, size] = ranks_.part(digits_.test.count());
    Score sums;
    for (int64_t first = 0; first < size; first += at_once) {
        const int64_t count = std::min(at_once, size - first);
        Batch batch = batch_of(digits_.test, start + first, count, options_.type, options_.device);
        const Tensor logits = network_.infer(std::move(batch.images));
        Answers answers(count, options_.device);
        softmax_cross_entropy(logits, batch.labels, answers.losses, Tensor());
        topk(logits, kBest, {}, answers.best);
        add(sums, sums_of(answers.losses, answers.best, batch.labels));
    }
    return summed(sums, digits_.test.count());
}

std::string Trainer::fingerprint() const {
    const Tensor values = network_.parameters().to(Device::cpu());
    const auto bytes = static_cast<size_t>(values.elements() * size_of(values.type()));
    const auto *data = values.type() == DataType::f32
                           ? reinterpret_cast<const unsigned char *>(values.data<float>())
                           : reinterpret_cast<const unsigned char *>(values.data<uint16_t>());
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ data[i]) * 0x100000001b3;
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
    return text.data();
}

}  // namespace hk::train
