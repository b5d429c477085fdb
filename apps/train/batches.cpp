#include "batches.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace hk::train {
namespace {

std::mt19937_64 generator(uint64_t seed, int64_t epoch) {
    const auto number = static_cast<uint64_t>(epoch);
    std::seed_seq sequence{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                           static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32)};
    return std::mt19937_64(sequence);
}

// Of an image, 0 outside, between four pixels.
float sample(const float *image, double y, double x) {
    const double top = std::floor(y), left = std::floor(x);
    double sum = 0;
    for (int r = 0; r < 2; r++) {
        for (int s = 0; s < 2; s++) {
            const auto iy = static_cast<int64_t>(top) + r, ix = static_cast<int64_t>(left) + s;
            if (iy < 0 || iy >= kSide || ix < 0 || ix >= kSide) continue;
            const double down = y - top, right = x - left;
            sum += (r ? down : 1 - down) * (s ? right : 1 - right) *
                   static_cast<double>(image[iy * kSide + ix]);
        }
    }
    return static_cast<float>(sum);
}

void distort(const float *from, float *to, const Distortion &most, std::mt19937_64 &random) {
    const auto either_way = [&](double amount) { return amount * (2 * uniform(random) - 1); };
    const double angle = either_way(most.degrees) * std::numbers::pi / 180;
    const double size = 1 + either_way(most.scale);
    const double down = either_way(most.shift), right = either_way(most.shift);
    const double middle = (kSide - 1) / 2.0;
    const double cosine = std::cos(angle) / size, sine = std::sin(angle) / size;
    for (int64_t y = 0; y < kSide; y++) {
        for (int64_t x = 0; x < kSide; x++) {
            const double dy = static_cast<double>(y) - middle - down;
            const double dx = static_cast<double>(x) - middle - right;
            *to++ = sample(from, middle + cosine * dy + sine * dx, middle - sine * dy + cosine * dx);
        }
    }
}

}  // namespace

double uniform(std::mt19937_64 &random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

Batch batch_of(const Digits &digits, int64_t first, int64_t count, DataType type, Device device) {
    Tensor images({count, kSide, kSide, 1}, type), labels({count}, DataType::s32);
    const float *from = digits.pixels.data() + first * kPixels;
    for (int64_t i = 0; i < images.elements(); i++) {
        switch (type) {
            case DataType::f32: images.data<float>()[i] = from[i]; break;
            case DataType::f16: images.data<uint16_t>()[i] = f16_from_f32(from[i]); break;
            default: images.data<uint16_t>()[i] = bf16_from_f32(from[i]);
        }
    }
    std::copy_n(digits.labels.begin() + first, count, labels.data<int32_t>());
    if (device.is_cpu()) return {std::move(images), std::move(labels)};
    return {images.to(device), labels.to(device)};
}

Epoch::Epoch(const Digits &digits, const Distortion &distortion, uint64_t seed, int64_t epoch) {
    std::mt19937_64 random = generator(seed, epoch);
    std::vector<size_t> order(static_cast<size_t>(digits.count()));
    std::iota(order.begin(), order.end(), 0);
    // Not std::shuffle, whose order each standard library may choose.
    for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random() % i]);
    digits_.pixels.resize(digits.pixels.size());
    float *to = digits_.pixels.data();
    for (const size_t digit : order) {
        distort(digits.pixels.data() + digit * kPixels, to, distortion, random);
        to += kPixels;
        digits_.labels.push_back(digits.labels[digit]);
    }
}

}  // namespace hk::train
