// Pictures of clouds and the colours of features.

#include "apps/pointcloud/picture.h"

#include <gtest/gtest.h>

#include <set>

#include "apps/pointcloud/principal.h"

namespace hk::pointcloud {
namespace {

using pictures::Colour;
using pictures::Image;

constexpr Colour kRed{255, 0, 0}, kBlue{0, 0, 255};

int count_of(const Image &image, int channel) {
    int count = 0;
    for (const Colour &pixel : image.pixels)
        count += pixel[static_cast<size_t>(channel)] > 200 && pixel[1] < 60;
    return count;
}

TEST(Picture, WhatIsNearerHidesWhatIsBehind) {
    // Seen from straight above: in the middle a red one over two blue ones.
    const Points points{{0, 0, 1}, {0, 0, 0}, {0, 0, -1}, {-9, 0, 0}, {9, 0, 0}};
    const std::vector<Colour> colours{kRed, kBlue, kBlue, kBlue, kBlue};
    const Image image =
        picture_of(points, colours, 2, {.width = 200, .height = 100, .turn = 0, .tilt = 90});
    EXPECT_EQ(image.width, 200);
    EXPECT_EQ(image.height, 100);
    EXPECT_GT(count_of(image, 0), 50);
    EXPECT_GT(count_of(image, 2), 100);
    int hidden = 0;
    for (int y = 0; y < image.height; y++) {
        for (int x = 70; x < 130; x++) hidden += image.at(x, y)[2] > 60;
    }
    EXPECT_EQ(hidden, 0);
}

TEST(Picture, FewPoints) {
    EXPECT_EQ(picture_of({}, {}, 1, {.width = 40, .height = 30}).width, 40);
    const Points one{{3, 4, 5}};
    const std::vector<Colour> colour{kRed};
    EXPECT_GT(count_of(picture_of(one, colour, 1, {.width = 40, .height = 30}), 0), 0);
}

TEST(Colours, TellFeaturesApart) {
    Tensor features({60, 5}, DataType::f32);
    for (int64_t r = 0; r < 60; r++) {
        for (int64_t c = 0; c < 5; c++)
            features.data<float>()[5 * r + c] =
                static_cast<float>((r % 3) * (c + 1) + (r % 2) * c * c);
    }
    const std::vector<Colour> colours = colours_of(features);
    ASSERT_EQ(colours.size(), 60u);
    EXPECT_EQ(colours, colours_of(features));
    EXPECT_NE(colours[0][0] / 60, colours[2][0] / 60);
    EXPECT_TRUE(colours_of(Tensor({0, 5}, DataType::f32)).empty());
    EXPECT_EQ(colours_of(Tensor::zeros({1, 1}, DataType::f32)).size(), 1u);
}

}  // namespace
}  // namespace hk::pointcloud
