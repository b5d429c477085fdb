#include "picture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace hk::pointcloud {
namespace {

using pictures::Colour;
using pictures::Image;

constexpr int kSamples = 2;        // a pixel, along each axis
constexpr double kDistance = 1.6;  // of the camera, in diagonals of the cloud
constexpr double kMargin = 0.04;   // of the picture, on each side
constexpr double kFar = std::numeric_limits<double>::infinity();

// To the right, upwards, away from the camera.
struct Projected {
    double x = 0, y = 0, depth = 0;
};

std::vector<Projected> projected(std::span<const Point> points, const View &view) {
    Point least = points.front(), most = least;
    for (const Point &point : points) {
        for (size_t a = 0; a < 3; a++) {
            least[a] = std::min(least[a], point[a]);
            most[a] = std::max(most[a], point[a]);
        }
    }
    const double diagonal =
        std::max(1e-9, std::hypot(most[0] - least[0], most[1] - least[1], most[2] - least[2]));
    const double turn = view.turn * std::numbers::pi / 180,
                 tilt = view.tilt * std::numbers::pi / 180;
    std::vector<Projected> result(points.size());
    for (size_t i = 0; i < points.size(); i++) {
        const double x = points[i][0] - (least[0] + most[0]) / 2;
        const double y = points[i][1] - (least[1] + most[1]) / 2;
        const double z = points[i][2] - (least[2] + most[2]) / 2;
        const double right = x * std::cos(turn) + y * std::sin(turn);
        const double away = y * std::cos(turn) - x * std::sin(turn);
        const double depth = kDistance * diagonal + away * std::cos(tilt) - z * std::sin(tilt);
        result[i] = {right / depth, (away * std::sin(tilt) + z * std::cos(tilt)) / depth, depth};
    }
    return result;
}

class Canvas {
public:
    Canvas(int width, int height)
        : image_(width, height), depth_(static_cast<size_t>(width) * height, kFar) {}

    void disc(double x, double y, double radius, double depth, Colour colour) {
        const int left = std::max(0, static_cast<int>(std::ceil(x - radius)));
        const int right = std::min(image_.width - 1, static_cast<int>(std::floor(x + radius)));
        const int top = std::max(0, static_cast<int>(std::ceil(y - radius)));
        const int bottom = std::min(image_.height - 1, static_cast<int>(std::floor(y + radius)));
        for (int v = top; v <= bottom; v++) {
            for (int u = left; u <= right; u++) {
                const double square = (u - x) * (u - x) + (v - y) * (v - y);
                if (square > radius * radius || depth >= depth_at(u, v)) continue;
                depth_at(u, v) = depth;
                image_.at(u, v) = colour;
            }
        }
    }

    // Eye-dome lighting (Boucheny 2009): a pixel is as dark as its neighbours are nearer.
    Image shaded(int reach) const {
        Image result(image_.width, image_.height);
        for (int v = 0; v < image_.height; v++) {
            for (int u = 0; u < image_.width; u++) {
                if (depth_at(u, v) == kFar) {
                    result.at(u, v) = background(v);
                    continue;
                }
                const double light =
                    std::exp(-40 * (occlusion(u, v, reach) + occlusion(u, v, 3 * reach)));
                for (size_t a = 0; a < 3; a++) {
                    result.at(u, v)[a] =
                        static_cast<uint8_t>(std::lround(light * image_.at(u, v)[a]));
                }
            }
        }
        return result;
    }

private:
    double &depth_at(int u, int v) { return depth_[static_cast<size_t>(v) * image_.width + u]; }
    double depth_at(int u, int v) const {
        return depth_[static_cast<size_t>(v) * image_.width + u];
    }

    double occlusion(int u, int v, int reach) const {
        constexpr int kAround[8][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                       {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
        double sum = 0;
        for (const auto &[du, dv] : kAround) {
            const int x = std::clamp(u + reach * du, 0, image_.width - 1);
            const int y = std::clamp(v + reach * dv, 0, image_.height - 1);
            sum += std::clamp(std::log(depth_at(u, v) / depth_at(x, y)), 0.0, 0.05) / 8;
        }
        return sum;
    }

    Colour background(int v) const {
        const double share = static_cast<double>(v) / image_.height;
        return {static_cast<uint8_t>(14 + 14 * share), static_cast<uint8_t>(16 + 16 * share),
                static_cast<uint8_t>(24 + 20 * share)};
    }

    Image image_;
    std::vector<double> depth_;
};

}  // namespace

Image picture_of(std::span<const Point> points, std::span<const Colour> colours, double size,
                 const View &view) {
    const int width = kSamples * view.width, height = kSamples * view.height;
    Canvas canvas(width, height);
    if (!points.empty()) {
        const std::vector<Projected> places = projected(points, view);
        double left = kFar, right = -kFar, low = kFar, high = -kFar;
        for (const Projected &place : places) {
            left = std::min(left, place.x);
            right = std::max(right, place.x);
            low = std::min(low, place.y);
            high = std::max(high, place.y);
        }
        const double scale = (1 - 2 * kMargin) * std::min(width / std::max(1e-9, right - left),
                                                          height / std::max(1e-9, high - low));
        for (size_t i = 0; i < places.size(); i++) {
            const Projected &place = places[i];
            canvas.disc(width / 2.0 + scale * (place.x - (left + right) / 2),
                        height / 2.0 - scale * (place.y - (low + high) / 2),
                        std::clamp(scale * size / place.depth / 2, 1.0, width / 8.0), place.depth,
                        colours[i]);
        }
    }
    return pictures::resized(canvas.shaded(kSamples), view.width, view.height);
}

}  // namespace hk::pointcloud
