// The network: its gradients against differences of a loss in double, and what it keeps.

#include "train/network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "double_network.h"
#include "hk/memory.h"
#include "hk/softmax_cross_entropy.h"
#include "tests/reference/elements.h"
#include "train/batches.h"

namespace hk::train {
namespace {

constexpr int64_t kCount = 3;

Network network(DataType type = DataType::f32, Device device = {}) {
    return Network(digit_layers(), type, device, 5);
}

Batch digits(DataType type = DataType::f32, Device device = {}, int64_t count = kCount) {
    static const DigitSets sets = read_digits(HK_DIGITS);
    return batch_of(sets.train, 10, count, type, device);
}

double mean_loss(const Tensor &logits, const Tensor &labels) {
    const Tensor losses({logits.shape()[0]}, DataType::f32, logits.device());
    softmax_cross_entropy(logits, labels, losses, Tensor());
    double sum = 0;
    for (const double loss : reference::read(losses.to(Device::cpu()))) sum += loss;
    return sum / static_cast<double>(losses.elements());
}

// Forward and backward; returns the loss.
double gradients(Network &network, const Batch &batch) {
    const Tensor logits = network.forward(batch.images);
    const double loss = mean_loss(logits, batch.labels);
    softmax_cross_entropy(logits, batch.labels, {}, inplace(logits),
                          1.0F / static_cast<float>(batch.count()));
    network.backward(logits);
    return loss;
}

std::vector<std::vector<double>> values_of(const Network &network) {
    std::vector<std::vector<double>> values;
    for (const Parameter *parameter : network.each_parameter()) {
        values.push_back(reference::read(parameter->value.to(Device::cpu())));
    }
    return values;
}

TEST(Network, HasTheGradientsOfItsLoss) {
    Network net = network();
    const Batch batch = digits();
    // Biases are zeros at first, where a wrong one would not show and relu has its corner.
    for (const Parameter *parameter : net.each_parameter()) {
        if (parameter->largest > 0) continue;
        for (int64_t i = 0; i < parameter->value.elements(); i++) {
            parameter->value.data<float>()[i] = 0.01F * (static_cast<float>(i % 7) - 3.5F);
        }
    }
    auto values = values_of(net);
    const DoubleDigits exact{kCount,
                             reference::read(batch.images),
                             {batch.labels.data<int32_t>(), batch.labels.data<int32_t>() + kCount}};
    EXPECT_NEAR(gradients(net, batch), double_loss(values, exact), 1e-5);

    const auto parameters = net.each_parameter();
    ASSERT_EQ(parameters.size(), 14u);
    for (size_t p = 0; p < parameters.size(); p++) {
        const std::vector<double> gradient = reference::read(parameters[p]->gradient);
        double largest = 0;
        for (const double value : gradient) largest = std::max(largest, std::abs(value));
        EXPECT_GT(largest, 0) << "parameter " << p;
        const size_t step = std::max<size_t>(1, gradient.size() / 10);
        for (size_t i = p % step; i < gradient.size(); i += step) {
            constexpr double h = 1e-6;
            const double value = values[p][i];
            values[p][i] = value + h;
            const double above = double_loss(values, exact);
            values[p][i] = value - h;
            const double below = double_loss(values, exact);
            values[p][i] = value;
            EXPECT_NEAR(gradient[i], (above - below) / (2 * h), 1e-4 * largest)
                << "parameter " << p << " of shape " << to_string(parameters[p]->shape)
                << ", element " << i;
        }
    }
}

TEST(Network, InfersWhatItTrains) {
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        Network net = network(type);
        const Batch batch = digits(type);
        const auto trained = reference::bits(net.forward(batch.images));
        net.forget();
        EXPECT_EQ(reference::bits(net.infer(batch.images)), trained) << name_of(type);
    }
}

TEST(Network, LearnsOnEachDeviceTheSame) {
    for (const Device device : Device::all()) {
        Network here = network(), there = network(DataType::f32, device);
        for (int step = 0; step < 3; step++) {
            EXPECT_NEAR(gradients(there, digits(DataType::f32, device)), gradients(here, digits()),
                        1e-4)
                << device.name();
            for (Network *net : {&here, &there}) net->update({0.01F, 0.9F, 1e-4F, true});
        }
    }
}

TEST(Network, KeepsNothingAfterAStep) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    Network net = network();
    const Batch batch = digits();
    const int64_t before = pool.statistics().in_use;
    for (int step = 0; step < 2; step++) {
        gradients(net, batch);
        EXPECT_EQ(pool.statistics().in_use, before);
    }
    net.infer(batch.images);
    EXPECT_EQ(pool.statistics().in_use, before);
    net.forward(batch.images);
    EXPECT_GT(pool.statistics().in_use, before);
    net.forget();
    EXPECT_EQ(pool.statistics().in_use, before);
}

TEST(Network, NeedsLittleMoreThanItsActivations) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    Network net = network();
    const Batch batch = digits(DataType::f32, {}, 32);
    const int64_t before = pool.statistics().requested;
    pool.reset_peaks();
    net.forward(batch.images);
    const int64_t kept = pool.statistics().requested - before;
    // Images, and what the convolutions wrote: 3 of 8x8x32, 3 of 4x4x64, and the pooled 2x2x64.
    EXPECT_LE(kept, 32 * 4 * (64 + 3 * 2048 + 3 * 1024 + 256 + 10));
    net.forget();
    pool.reset_peaks();
    const int64_t labels = pool.statistics().requested;
    net.infer(batch.images);
    // At most a layer's input and output, the packed filters of a kernel among what remains.
    EXPECT_LT(pool.statistics().peak_requested - labels, 32 * 4 * 3 * 2048);
    gradients(net, batch);
    EXPECT_LT(pool.statistics().peak_requested - before, kept * 3 / 2);
}

TEST(Network, StartsFromTheSeedAlone) {
    const auto first = reference::bits(network().parameters());
    EXPECT_EQ(first, reference::bits(network().parameters()));
    const Network other(digit_layers(), DataType::f32, Device::cpu(), 6);
    EXPECT_NE(first, reference::bits(other.parameters()));
    EXPECT_EQ(network().parameter_count(), 29578);
}

}  // namespace
}  // namespace hk::train
