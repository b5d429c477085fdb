#include "font.h"

#include <stb_easy_font.h>

#include <algorithm>

namespace hk::filter {

void draw_text(Image &image, int x, int y, std::string text, int scale, Colour colour) {
    // stb_easy_font makes rectangles of four corners, of about 270 bytes a letter.
    struct Corner {
        float x, y, z;
        unsigned char colour[4];
    };
    std::vector<Corner> corners(text.size() * 20 + 20);
    const int rectangles =
        stb_easy_font_print(0, 0, text.data(), nullptr, corners.data(),
                            static_cast<int>(corners.size() * sizeof(Corner)));
    for (const Corner *corner = corners.data(); corner < corners.data() + rectangles * 4;
         corner += 4) {
        const auto at = [&](float start, float dots, int most) {
            return std::clamp(static_cast<int>(start + dots * static_cast<float>(scale)), 0, most);
        };
        const int left = at(x, corner[0].x, image.width), right = at(x, corner[2].x, image.width);
        const int bottom = at(y, corner[2].y, image.height);
        for (int v = at(y, corner[0].y, image.height); v < bottom; v++)
            std::fill_n(image.pixels.begin() + int64_t{v} * image.width + left, right - left,
                        colour);
    }
}

}  // namespace hk::filter
