#include "cloud.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

namespace hk::pointcloud {
namespace {

using Place = std::array<int32_t, 3>;

Point least_of(std::span<const Point> points) {
    Point least{};
    if (!points.empty()) least = points.front();
    for (const Point &point : points) {
        for (size_t a = 0; a < 3; a++) least[a] = std::min(least[a], point[a]);
    }
    return least;
}

std::vector<Place> places_of(std::span<const Point> points, const Point &origin, double size) {
    std::vector<Place> places(points.size());
    for (size_t i = 0; i < points.size(); i++) {
        for (size_t a = 0; a < 3; a++) {
            const double place = std::floor((points[i][a] - origin[a]) / size);
            if (!(place >= 0 && place <= std::numeric_limits<int32_t>::max())) {
                throw CloudError("point " + std::to_string(i) + " is in voxel " +
                                 std::to_string(place) + " along " + "xyz"[a] +
                                 ", at most 2147483647 is possible");
            }
            places[i][a] = static_cast<int32_t>(place);
        }
    }
    return places;
}

std::string text_of(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

double two_digits(double size) {
    const double unit = std::pow(10, std::floor(std::log10(size)) - 1);
    return std::round(size / unit) * unit;
}

}  // namespace

Voxels voxelised(std::span<const Point> points, double size) {
    if (!(size > 0 && std::isfinite(size))) {
        throw CloudError("the voxel size is " + std::to_string(size) + ", it must be above 0");
    }
    Voxels voxels;
    voxels.size = size;
    voxels.origin = least_of(points);
    const std::vector<Place> places = places_of(points, voxels.origin, size);
    std::vector<size_t> order(points.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return places[a] < places[b] || (places[a] == places[b] && a < b);
    });

    std::vector<Place> firsts;
    for (const size_t i : order) {
        if (firsts.empty() || firsts.back() != places[i]) {
            firsts.push_back(places[i]);
            voxels.centres.push_back({});
            voxels.counts.push_back(0);
        }
        for (size_t a = 0; a < 3; a++) voxels.centres.back()[a] += points[i][a];
        voxels.counts.back()++;
    }
    voxels.coordinates = Tensor({static_cast<int64_t>(firsts.size()), 4}, DataType::s32);
    auto *coordinates = voxels.coordinates.data<int32_t>();
    for (size_t v = 0; v < firsts.size(); v++) {
        *coordinates++ = 0;
        for (size_t a = 0; a < 3; a++) {
            *coordinates++ = firsts[v][a];
            voxels.centres[v][a] /= voxels.counts[v];
        }
    }
    return voxels;
}

double size_for(std::span<const Point> points, int64_t count) {
    if (points.empty()) return 1;
    const Point least = least_of(points);
    double largest = 0;
    for (const Point &point : points) {
        for (size_t a = 0; a < 3; a++) largest = std::max(largest, point[a] - least[a]);
    }
    if (largest == 0) return 1;
    // Of the sizes with too many voxels and with too few.
    double small = largest / (1 << 20), large = largest;
    if (!std::isnormal(small)) {
        throw CloudError("the points are spread over " + text_of(largest) +
                         ", for which there is no voxel size");
    }
    const auto voxels_of = [&](double size) {
        std::vector<Place> places = places_of(points, least, size);
        std::sort(places.begin(), places.end());
        return std::unique(places.begin(), places.end()) - places.begin();
    };
    // Voxels of a point each have no neighbours.
    count = std::min(count, (static_cast<int64_t>(points.size()) + 1) / 2);
    while (large / small > 1.02) {
        const double middle = small * std::sqrt(large / small);
        (voxels_of(middle) > count ? small : large) = middle;
    }
    return two_digits(large);
}

}  // namespace hk::pointcloud
