#include "sheet.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>

#include "bank.h"
#include "colour.h"
#include "font.h"

namespace hk::filter {
namespace {

constexpr int margin = 40, gap = 8, tile = 180, side = 96, wide_gap = 28, line = 34;
constexpr int panels = 3;
constexpr int bank_left = margin + side;
constexpr int content = side + orientations * tile + (orientations - 1) * gap;
constexpr int panel = (content - (panels - 1) * wide_gap) / panels;
static_assert(panel == 512, "the photograph that the project ships is drawn pixel by pixel");
constexpr Colour paper{14, 15, 19}, ink{214, 216, 222}, faint{128, 132, 144};

class Responses {
public:
    Responses(const Image &photo, std::span<const float> values)
        : width_(photo.width), height_(photo.height), values_(values) {}

    int width() const { return width_; }
    int height() const { return height_; }
    double at(int x, int y, int filter) const {
        return values_[(static_cast<size_t>(y) * width_ + x) * filters + filter];
    }

    // The length of the quadrature pair: the strength of an edge or line, whatever its phase.
    double energy(int x, int y, int scale, int orientation) const {
        return std::hypot(at(x, y, place(scale, Phase::even, orientation)),
                          at(x, y, place(scale, Phase::odd, orientation)));
    }

private:
    int width_, height_;
    std::span<const float> values_;
};

// The value below which a share of them lies.
double quantile(std::vector<double> values, double share) {
    const auto nth = values.begin() + static_cast<ptrdiff_t>(share * (values.size() - 1));
    std::nth_element(values.begin(), nth, values.end());
    return std::max(*nth, 1e-9);
}

// Energy over all orientations and scales, and the mean orientation weighted by it: an angle and
// its opposite are one orientation, so angles are doubled before they are added.
struct Summary {
    std::vector<double> energy, turn, agreement;
};

Summary summarize(const Responses &responses) {
    Summary summary;
    for (int y = 0; y < responses.height(); y++) {
        for (int x = 0; x < responses.width(); x++) {
            std::complex<double> mean;
            double total = 0;
            for (int scale = 0; scale < std::ssize(scales); scale++) {
                for (int o = 0; o < orientations; o++) {
                    const double energy = responses.energy(x, y, scale, o);
                    total += energy;
                    mean += std::polar(energy, 2 * degrees(o) * std::numbers::pi / 180);
                }
            }
            summary.energy.push_back(total);
            summary.turn.push_back(std::arg(mean) / (2 * std::numbers::pi));
            summary.agreement.push_back(total > 0 ? std::abs(mean) / total : 0);
        }
    }
    return summary;
}

// The first and last of `from` places that lie under place i of `to`.
std::pair<int, int> covered(int i, int to, int from) {
    const int first = static_cast<int>(int64_t{i} * from / to);
    return {first, std::max(first, static_cast<int>((int64_t{i} + 1) * from / to) - 1)};
}

Image energy_map(const Responses &responses, const Summary &summary, double top) {
    Image image(responses.width(), responses.height());
    for (size_t i = 0; i < image.pixels.size(); i++) {
        image.pixels[i] = glow(summary.energy[i] / top);
    }
    return image;
}

Image orientation_map(const Responses &responses, const Summary &summary, double top) {
    Image image(responses.width(), responses.height());
    for (size_t i = 0; i < image.pixels.size(); i++) {
        const double strength = std::pow(std::min(summary.energy[i] / top, 1.0), 0.6);
        const double clear = std::min(summary.agreement[i] * 2.2, 1.0);
        image.pixels[i] = oklch(0.15 + 0.68 * strength, 0.17 * strength * clear, summary.turn[i]);
    }
    return image;
}

// Smaller than the response: each pixel shows the strongest value that it covers, for bands of both
// signs would average to grey.
Image response_map(const Responses &responses, int filter, double top, int width, int height) {
    Image image(width, height);
    for (int y = 0; y < height; y++) {
        const auto [first_y, last_y] = covered(y, height, responses.height());
        for (int x = 0; x < width; x++) {
            const auto [first_x, last_x] = covered(x, width, responses.width());
            double strongest = 0;
            for (int v = first_y; v <= last_y; v++) {
                for (int u = first_x; u <= last_x; u++) {
                    const double value = responses.at(u, v, filter);
                    strongest = std::abs(value) > std::abs(strongest) ? value : strongest;
                }
            }
            image.at(x, y) = diverging(strongest / top);
        }
    }
    return image;
}

// The filter itself, each weight a square of `dot` pixels, in a frame.
Image kernel_icon(int scale, Phase phase, int orientation, int dot) {
    const std::vector<float> weights = gabor(scales[scale], phase, orientation);
    const double top =
        std::abs(*std::max_element(weights.begin(), weights.end(),
                                   [](float a, float b) { return std::abs(a) < std::abs(b); }));
    Image icon(kernel_size * dot + 2, kernel_size * dot + 2, faint);
    for (int y = 0; y < kernel_size * dot; y++) {
        for (int x = 0; x < kernel_size * dot; x++) {
            icon.at(x + 1, y + 1) = diverging(weights[y / dot * kernel_size + x / dot] / top);
        }
    }
    return icon;
}

void paste(Image &sheet, int x, int y, const Image &image) {
    for (int v = 0; v < image.height; v++) {
        std::copy_n(&image.at(0, v), image.width, &sheet.at(x, y + v));
    }
}

std::string angle_label(int orientation) {
    char text[32];
    std::snprintf(text, sizeof text, "%g deg", degrees(orientation));
    return text;
}

// One scale and phase: the responses of all orientations, on one colour scale.
void draw_row(Image &sheet, int top, const Responses &responses, int scale, Phase phase,
              int tile_height) {
    std::vector<double> strengths;
    for (int y = 0; y < responses.height(); y++) {
        for (int x = 0; x < responses.width(); x++) {
            for (int o = 0; o < orientations; o++) {
                strengths.push_back(std::abs(responses.at(x, y, place(scale, phase, o))));
            }
        }
    }
    const double limit = quantile(std::move(strengths), 0.99);
    const int middle = top + tile_height / 2;
    draw_text(sheet, margin, middle - line / 2, scales[scale].name, 2, ink);
    draw_text(sheet, margin, middle + 4, phase == Phase::even ? "even" : "odd", 2, faint);
    for (int o = 0; o < orientations; o++) {
        const int left = bank_left + o * (tile + gap);
        paste(sheet, left, top,
              response_map(responses, place(scale, phase, o), limit, tile, tile_height));
        const Image icon = kernel_icon(scale, phase, o, 2);
        if (tile_height > icon.height + 12) {
            paste(sheet, left + 6, top + tile_height - icon.height - 6, icon);
        }
    }
}

}  // namespace

Image contact_sheet(const Image &photo, std::span<const float> values, const std::string &caption) {
    const Responses responses(photo, values);
    const auto scaled = [&](int width) {
        return std::max(1, static_cast<int>(std::lround(static_cast<double>(photo.height) * width /
                                                        photo.width)));
    };
    const int panel_height = scaled(panel), tile_height = scaled(tile);
    const int rows = 2 * static_cast<int>(std::size(scales));
    const int bank_top = margin + line + panel_height + wide_gap + line;
    Image sheet(2 * margin + content, bank_top + rows * (tile_height + gap) + line + margin, paper);

    const Summary summary = summarize(responses);
    const double top = quantile(summary.energy, 0.99);
    const Image maps[panels] = {photo, energy_map(responses, summary, top),
                                orientation_map(responses, summary, top)};
    const char *titles[panels] = {"Photograph", "Energy of all filters", "Orientation as hue"};
    for (int i = 0; i < panels; i++) {
        const int left = margin + i * (panel + wide_gap);
        draw_text(sheet, left, margin + 6, titles[i], 2, ink);
        paste(sheet, left, margin + line, resized(maps[i], panel, panel_height));
    }

    int y = bank_top;
    for (int o = 0; o < orientations; o++) {
        draw_text(sheet, bank_left + o * (tile + gap), y - line + 12, angle_label(o), 2, ink);
    }
    for (int scale = 0; scale < std::ssize(scales); scale++) {
        for (const Phase phase : {Phase::even, Phase::odd}) {
            draw_row(sheet, y, responses, scale, phase, tile_height);
            y += tile_height + gap;
        }
    }
    draw_text(sheet, margin, y + line / 2, caption, 2, faint);
    return sheet;
}

}  // namespace hk::filter
