// The digits, and the batches that are made of them.

#include "train/digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "program/file.h"
#include "tests/support/folder.h"
#include "train/batches.h"

namespace hk::train {
namespace {

using Image = std::vector<float>;

Image image_of(const Digits &digits, int64_t number) {
    const auto first = digits.pixels.begin() + number * kPixels;
    return {first, first + kPixels};
}

TEST(Digits, AreDividedInTwoPartsWithoutACommonImage) {
    const DigitSets sets = read_digits(HK_DIGITS);
    EXPECT_EQ(sets.train.count(), 1442);
    EXPECT_EQ(sets.test.count(), 355);
    std::set<Image> seen;
    for (const Digits *digits : {&sets.train, &sets.test}) {
        ASSERT_EQ(digits->pixels.size(), digits->labels.size() * kPixels);
        for (int64_t i = 0; i < digits->count(); i++) seen.insert(image_of(*digits, i));
        for (int32_t label = 0; label < kClasses; label++) {
            const auto count = std::count(digits->labels.begin(), digits->labels.end(), label);
            EXPECT_NEAR(static_cast<double>(count), static_cast<double>(digits->count()) / 10, 5);
        }
        EXPECT_EQ(*std::min_element(digits->pixels.begin(), digits->pixels.end()), 0);
        EXPECT_EQ(*std::max_element(digits->pixels.begin(), digits->pixels.end()), 1);
    }
    EXPECT_EQ(seen.size(), 1797u);
}

class DigitFile : public testing::Test {
protected:
    std::string error_of(const std::string &content) {
        std::ofstream(file_) << content;
        try {
            read_digits(file_);
        } catch (const DigitError &error) {
            return std::filesystem::path(error.what()).filename();
        }
        return "none";
    }

    // Rows of a digit: one pixel is `value`.
    static std::string rows(int count, const std::string &value, const std::string &label) {
        std::string text;
        for (int i = 0; i < count; i++) {
            for (int pixel = 0; pixel < kPixels; pixel++) text += pixel == 9 ? value + "," : "3,";
            text += label + "\n";
        }
        return text;
    }

    const std::string file_ = test::own_file("digits.csv");
};

TEST_F(DigitFile, IsReadToItsEnd) {
    std::ofstream(file_) << rows(5, "16", "7") << rows(4, "0", "8");
    const DigitSets sets = read_digits(file_);
    EXPECT_EQ(sets.train.labels, (std::vector<int32_t>{7, 7, 7, 7, 8, 8, 8, 8}));
    EXPECT_EQ(sets.test.labels, (std::vector<int32_t>{7}));
    EXPECT_EQ(sets.test.pixels[9], 1);
    EXPECT_EQ(sets.test.pixels[10], 3 / 16.0F);
}

TEST_F(DigitFile, OfSomethingElseNamesTheLine) {
    const std::string name = std::filesystem::path(file_).filename();
    EXPECT_EQ(error_of(rows(2, "4", "1") + rows(1, "17", "1")),
              name + ":3: expected a number from 0 to 16");
    EXPECT_EQ(error_of(rows(1, "x", "1")), name + ":1: expected a number from 0 to 16");
    EXPECT_EQ(error_of(rows(1, "4", "10")), name + ":1: expected a number from 0 to 9");
    EXPECT_EQ(error_of("1,2,3\n"), name + ":1: expected 65 numbers");
    EXPECT_EQ(error_of(rows(1, "4", "1,5")), name + ":1: expected 65 numbers");
    EXPECT_EQ(error_of(rows(4, "4", "1")), name + ": it has no digits to test on");
    EXPECT_THROW(read_digits("/nowhere/digits.csv"), program::FileError);
}

Digits some() {
    Digits digits;
    for (int i = 0; i < 40; i++) {
        for (int pixel = 0; pixel < kPixels; pixel++) {
            digits.pixels.push_back(static_cast<float>((i * 7 + pixel * 3) % 17) / 16);
        }
        digits.labels.push_back(i % 10);
    }
    return digits;
}

std::vector<float> pixels_of(const Batch &batch) {
    const auto *first = batch.images.data<float>();
    return {first, first + batch.images.elements()};
}

TEST(Epoch, HasEveryDigitOnce) {
    const Digits digits = some();
    const Epoch epoch(digits, {0, 0, 0}, 3, 0);
    const Batch all = epoch.batch(0, digits.count(), DataType::f32, Device::cpu());
    EXPECT_EQ(all.images.shape(), (Shape{40, 8, 8, 1}));
    std::multiset<std::pair<Image, int32_t>> expected, got;
    const std::vector<float> pixels = pixels_of(all);
    for (int64_t i = 0; i < 40; i++) {
        const auto at = static_cast<size_t>(i);
        expected.insert({image_of(digits, i), digits.labels[at]});
        got.insert({Image(pixels.begin() + i * kPixels, pixels.begin() + (i + 1) * kPixels),
                    all.labels.data<int32_t>()[i]});
    }
    EXPECT_EQ(got, expected);
    EXPECT_NE(pixels, digits.pixels) << "not shuffled";
}

TEST(Epoch, IsAFunctionOfSeedAndNumber) {
    const Digits digits = some();
    const auto pixels = [&](uint64_t seed, int64_t number) {
        return pixels_of(Epoch(digits, {}, seed, number).batch(0, 40, DataType::f32, {}));
    };
    EXPECT_EQ(pixels(1, 2), pixels(1, 2));
    EXPECT_NE(pixels(1, 2), pixels(1, 3));
    EXPECT_NE(pixels(1, 2), pixels(2, 2));
    const Epoch epoch(digits, {}, 1, 2);
    const std::vector<float> whole = pixels(1, 2);
    EXPECT_EQ(pixels_of(epoch.batch(7, 5, DataType::f32, {})),
              (Image{whole.begin() + 7 * kPixels, whole.begin() + 12 * kPixels}));
}

TEST(Epoch, DistortsALittle) {
    const DigitSets sets = read_digits(HK_DIGITS);
    const auto ink = [](const std::vector<float> &pixels) {
        return std::accumulate(pixels.begin(), pixels.end(), 0.0);
    };
    const Epoch still(sets.train, {0, 0, 0}, 1, 0), moved(sets.train, {}, 1, 0);
    const auto a = pixels_of(still.batch(0, 100, DataType::f32, {}));
    const auto b = pixels_of(moved.batch(0, 100, DataType::f32, {}));
    // The order is drawn first, so it is the same.
    EXPECT_NE(a, b);
    EXPECT_NEAR(ink(b) / ink(a), 1, 0.1);
    EXPECT_GE(*std::min_element(b.begin(), b.end()), 0);
    EXPECT_LE(*std::max_element(b.begin(), b.end()), 1 + 1e-6);
}

TEST(Batch, RoundsToItsType) {
    const Digits digits = some();
    const Batch batch = batch_of(digits, 3, 2, DataType::bf16, Device::cpu());
    for (int64_t i = 0; i < batch.images.elements(); i++) {
        const float pixel = digits.pixels[static_cast<size_t>(3 * kPixels + i)];
        EXPECT_EQ(batch.images.data<uint16_t>()[i], bf16_from_f32(pixel));
    }
    EXPECT_EQ(batch.labels.data<int32_t>()[1], digits.labels[4]);
}

}  // namespace
}  // namespace hk::train
