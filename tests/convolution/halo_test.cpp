#include "convolution/halo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "hk/conv2d.h"
#include "hk/conv2d_backward.h"

namespace hk::detail {
namespace {

Conv2dProblem problem(int64_t batch, std::array<int64_t, 2> size, std::array<int64_t, 2> kernel,
                      int64_t padding, int64_t dilation = 1) {
    Conv2dProblem p;
    p.batch = batch;
    p.channels = p.filters = 16;
    p.height = size[0];
    p.width = size[1];
    p.kernel_height = kernel[0];
    p.kernel_width = kernel[1];
    p.options.padding = {padding, padding, padding, padding};
    p.options.dilation = {dilation, dilation};
    return p;
}

int64_t argument(const Halo &halo, std::string_view name) {
    for (const NamedArgument &one : halo.named())
        if (one.name == name) return static_cast<int32_t>(one.number);
    ADD_FAILURE() << name;
    return 1;
}

// All tiles' windows are in their halos, 8 neighbours at places of 8 remainders, and no window of
// an image meets rows of the next one, but zeros above it.
void check(const Halo &halo, int64_t batch, std::array<int64_t, 2> image,
           std::array<int64_t, 2> reach, int64_t zeros) {
    const int64_t row = argument(halo, "halo_row"), of_image = argument(halo, "halo_image");
    const int64_t rows = image[0], columns = image[1], all = batch * rows * columns;
    const auto place = [&](int64_t output) {
        const int64_t line = output / columns;
        return line / rows * of_image + line % rows * row + output % columns;
    };
    EXPECT_GE(of_image, (rows + reach[0] - zeros) * row);
    EXPECT_GE(row, columns + reach[1]);
    const int64_t to_last = reach[0] * row + reach[1];
    for (const int64_t outputs : {64, 128}) {
        int64_t most = 0;
        for (int64_t first = 0; first < all; first++) {
            EXPECT_EQ(place(first) % 8, first % 8);
            most = std::max(most, place(first + outputs - 1) - place(first) + to_last + 1);
        }
        EXPECT_LE(most, static_cast<int64_t>(halo.pixels(outputs)));
        if (batch > 2 * outputs / (rows * columns) + 2)
            EXPECT_EQ(most, static_cast<int64_t>(halo.pixels(outputs))) << "more than are needed";
    }
}

TEST(Halo, HasTheWindowsOfATile) {
    for (const int64_t width : {1, 3, 7, 8, 13, 14, 28, 56, 57})
        for (const int64_t height : {1, 7, 14}) {
            const Conv2dProblem p = problem(300, {height, width}, {3, 3}, 1);
            check(Halo::of_output(p), p.batch, {height, width}, {2, 2}, 1);
            check(Halo::of_input(p), p.batch, {height, width}, {2, 2}, 1);
        }
    const Conv2dProblem cropped = problem(9, {12, 12}, {3, 5}, 0, 2);
    check(Halo::of_output(cropped), 9, {8, 4}, {4, 8}, 0);
    check(Halo::of_input(cropped), 9, {12, 12}, {4, 8}, 4);
}

// Places are numbers of 32 bits, with the tile that reaches past the last image.
TEST(Halo, OfTooManyPixelsIsOfNoSize) {
    constexpr int64_t none = std::numeric_limits<int64_t>::max(), images = int64_t{1} << 24;
    EXPECT_EQ(Halo::of_output(problem(images, {16, 16}, {3, 3}, 1)).pixels(128), none);
    EXPECT_LT(Halo::of_output(problem(images / 16, {16, 16}, {3, 3}, 1)).pixels(128), 1000);
}

// No row takes a problem whose halos are larger than those that its kernel stages.
TEST(Halo, OfRowsAreAsLargeAsTheyTake) {
    int found = 0;
    for (const auto &[rows, field] :
         {std::pair(conv2d_kernels(), "halo_spared"),
          std::pair(conv2d_backward_data_kernels(), "input_halo_spared")})
        for (const KernelInfo &row : rows) {
            if (row.algorithm != std::string_view("products_of_halos")) continue;
            found++;
            EXPECT_TRUE(std::ranges::any_of(row.where, [&](const Constraint &one) {
                return one.field == std::string_view(field) && one.value >= 0 &&
                       one.relation == Constraint::Relation::at_least;
            })) << row.name;
        }
    EXPECT_GE(found, 2);
}

}  // namespace
}  // namespace hk::detail
