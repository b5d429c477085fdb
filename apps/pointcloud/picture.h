#pragma once
// A cloud as a picture: discs with a depth buffer, seen in perspective from above, darkened where
// something nearer is beside them.

#include <span>

#include "cloud.h"
#include "pictures/image.h"

namespace hk::pointcloud {

struct View {
    int width = 1600, height = 1000;
    double turn = 35, tilt = 35;  // degrees: around the vertical, and from the horizon downwards
};

// One colour a point; `size` is a disc's diameter in the points' unit.
pictures::Image picture_of(std::span<const Point> points, std::span<const pictures::Colour> colours,
                           double size, const View &view = {});

}  // namespace hk::pointcloud
