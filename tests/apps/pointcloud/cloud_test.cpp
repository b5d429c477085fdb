// Clouds from files of every kind, good and bad, and as voxels.

#include "apps/pointcloud/cloud.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "apps/program/file.h"

namespace hk::pointcloud {
namespace {

const Points kThree{{1, 2, 3}, {-4.5, 0.25, 1e3}, {0, -0.5, 7}};

template<typename T>
std::string bytes_of(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

template<typename T>
std::string records_of(const Points &points, const std::string &after = "") {
    std::string bytes;
    for (const Point &point : points) {
        for (const double value : point) bytes += bytes_of(static_cast<T>(value));
        bytes += after;
    }
    return bytes;
}

std::string npy(const std::string &type, const std::string &shape, const std::string &data,
                const std::string &order = "False", char version = 1) {
    std::string header =
        "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
    std::string file = "\x93NUMPY" + std::string(1, version) + std::string(1, '\0');
    if (version == 1) {
        file += bytes_of(static_cast<uint16_t>(header.size()));
    } else {
        file += bytes_of(static_cast<uint32_t>(header.size()));
    }
    return file + header + data;
}

std::string ply(const std::string &format, const std::string &rest) {
    return "ply\nformat " + format + " 1.0\n" + rest;
}

const std::string kXyz = "property float x\nproperty float y\nproperty float z\nend_header\n";
const std::string kText = "1 2 3\n-4.5 0.25 1e3\n0 -0.5 7\n";

TEST(Cloud, ReadsText) {
    EXPECT_EQ(parse_points(kText, "t"), kThree);
    EXPECT_EQ(parse_points("# x y z\n\n1,2,3 255\r\n -4.5;+0.25;1e3\n0\t-.5\t7", "t"), kThree);
    EXPECT_TRUE(parse_points("", "t").empty());
}

TEST(Cloud, ReadsPly) {
    EXPECT_EQ(parse_points(ply("ascii", "comment c\nelement vertex 3\n" + kXyz + kText), "p"),
              kThree);
    EXPECT_EQ(parse_points(ply("binary_little_endian",
                               "element vertex 3\n" + kXyz + records_of<float>(kThree)),
                           "p"),
              kThree);
    // Coordinates among other properties, and another element behind.
    const std::string mixed =
        "element vertex 2\nproperty uchar red\nproperty double z\nproperty short y\n"
        "property int32 x\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    const std::string two = bytes_of<uint8_t>(9) + bytes_of(2.5) + bytes_of<int16_t>(-7) +
                            bytes_of<int32_t>(1 << 20) + bytes_of<uint8_t>(9) + bytes_of(0.0) +
                            bytes_of<int16_t>(1) + bytes_of<int32_t>(-3);
    const Points expected{{1 << 20, -7, 2.5}, {-3, 1, 0}};
    EXPECT_EQ(parse_points(ply("binary_little_endian", mixed + two + "face"), "p"), expected);
    EXPECT_EQ(parse_points(ply("ascii", mixed + "9 2.5 -7 1048576\n9 0 1 -3\n3 0 1 2\n"), "p"),
              expected);
    EXPECT_EQ(parse_points("ply\r\nformat ascii 1.0\r\nelement vertex 1\r\nproperty float x\r\n"
                           "property float y\r\nproperty float z\r\nend_header\r\n1 2 3\r\n",
                           "p"),
              Points(kThree.begin(), kThree.begin() + 1));
}

TEST(Cloud, ReadsNpy) {
    EXPECT_EQ(parse_points(npy("'<f4'", "(3, 3)", records_of<float>(kThree)), "n"), kThree);
    EXPECT_EQ(parse_points(npy("'<f8'", "(3, 3)", records_of<double>(kThree), "False", 2), "n"),
              kThree);
    EXPECT_EQ(parse_points(npy("'<f4'", "(3, 4)", records_of<float>(kThree, "abcd")), "n"), kThree);
    EXPECT_TRUE(parse_points(npy("'<f4'", "(0, 3)", ""), "n").empty());
}

std::string complaint(const std::string &content) {
    try {
        parse_points(content, "cloud");
    } catch (const CloudError &error) {
        return error.what();
    }
    return "none";
}

TEST(Cloud, RefusesBadText) {
    EXPECT_EQ(complaint("1 2 3\n1 2\n"),
              "cloud: line 2 has \"\" where number 3 of a point should be");
    EXPECT_EQ(complaint("x y z\n"), "cloud: line 1 has \"x\" where number 1 of a point should be");
    EXPECT_EQ(complaint("1 2 3a\n"),
              "cloud: line 1 has \"3a\" where number 3 of a point should be");
    EXPECT_EQ(complaint("1 2 nan\n"), "cloud: line 1 has a coordinate that is not finite");
    EXPECT_EQ(complaint("1 1e999 3\n"), "cloud: line 1 has a coordinate that is not finite");
    EXPECT_EQ(complaint("1 2 " + std::string(310, '9')),
              "cloud: line 1 has a coordinate that is not finite");
    EXPECT_LT(complaint("1 2 " + std::string(310, 'x')).size(), 250u);
    EXPECT_EQ(parse_points("1e-999 2 3", "t"), (Points{{0, 2, 3}}));
}

TEST(Cloud, RefusesBadPly) {
    const std::string binary = "element vertex 3\n" + kXyz + records_of<float>(kThree);
    EXPECT_EQ(
        complaint(ply("binary_big_endian", binary)),
        "cloud: its format is binary_big_endian, only ascii and binary_little_endian are read");
    EXPECT_EQ(complaint(ply("binary_little_endian", binary.substr(0, binary.size() - 1))),
              "cloud: its header tells of 3 points of 12 bytes, there are 35 bytes");
    EXPECT_EQ(complaint(ply("ascii", "element vertex 4\n" + kXyz + kText)),
              "cloud: its header tells of 4 points, there are 3");
    EXPECT_EQ(complaint(ply("ascii",
                            "element vertex 1\nproperty float x\nproperty float z\n"
                            "end_header\n1 2\n")),
              "cloud: its vertices have no property y");
    EXPECT_EQ(complaint(ply("ascii", "element vertex 1\nproperty list uchar int x\n")),
              "cloud: property of type list in a vertex");
    EXPECT_EQ(complaint(ply("ascii", "element face 1\nelement vertex 1\n" + kXyz)),
              "cloud: element face comes before element vertex");
    for (const char *count : {"-1", "2.5", "nan", "3e0", "99999999999999999999", ""}) {
        EXPECT_EQ(complaint(ply("ascii", "element vertex " + std::string(count) + "\n" + kXyz)),
                  "cloud: \"" + std::string(count) + "\" is no number of vertices");
    }
    EXPECT_EQ(complaint(ply("ascii", "element vertex 3\n")),
              "cloud: its PLY header has no end_header");
    EXPECT_EQ(complaint(ply("ascii", "end_header\n")),
              "cloud: its PLY header has no element vertex");
    EXPECT_EQ(complaint("ply\nend_header\n"), "cloud: its PLY header has no format");
    Points broken = kThree;
    broken[1][2] = INFINITY;
    EXPECT_EQ(complaint(ply("binary_little_endian",
                            "element vertex 3\n" + kXyz + records_of<float>(broken))),
              "cloud: point 1 has a coordinate that is not finite");
}

TEST(Cloud, RefusesBadNpy) {
    const std::string data = records_of<float>(kThree);
    EXPECT_EQ(complaint(npy("'<i4'", "(3, 3)", data)),
              "cloud: its elements are '<i4', only '<f4' and '<f8' are read");
    EXPECT_EQ(complaint(npy("'<f4'", "(3, 3)", data, "True")),
              "cloud: it is in Fortran order, only C order is read");
    EXPECT_EQ(complaint(npy("'<f4'", "(9,)", data)),
              "cloud: its shape is (9,), it must be (N, 3) or wider");
    EXPECT_EQ(complaint(npy("'<f4'", "(4, 2)", data)),
              "cloud: its shape is (4, 2), it must be (N, 3) or wider");
    EXPECT_EQ(complaint(npy("'<f4'", "(1, 3, 3)", data)),
              "cloud: its shape is (1, 3, 3), it must be (N, 3) or wider");
    for (const char *shape : {"(5, nan)", "(nan, 3)", "(3, 3.5)", "(1e1, 3)", "(-1, 3)", "(3, inf)",
                              "(3, 99999999999999999999)"}) {
        EXPECT_EQ(complaint(npy("'<f4'", shape, data)),
                  std::string("cloud: its shape is ") + shape + ", it must be (N, 3) or wider");
    }
    for (const char *shape : {"", "3", "]3, 3)", ")", "("}) {
        EXPECT_NE(complaint(npy("'<f4'", shape, data)).find("it must be (N, 3) or wider"),
                  std::string::npos)
            << shape;
    }
    EXPECT_EQ(complaint(npy("'<f4'", "(4, 3)", data)),
              "cloud: its header tells of 4 points of 12 bytes, there are 36 bytes");
    EXPECT_EQ(complaint(npy("'<f4'", "(3, 3)", data).substr(0, 20)),
              "cloud: its .npy header is cut off");
    EXPECT_EQ(complaint("\x93NUMPY"), "cloud: its .npy header is cut off");
}

TEST(Cloud, NamesAFileThatIsNotThere) {
    try {
        read_points("/no/such/cloud.ply");
        FAIL();
    } catch (const program::FileError &error) {
        EXPECT_STREQ(error.what(), "/no/such/cloud.ply: No such file or directory");
    }
    EXPECT_THROW(read_points("/"), program::FileError);
}

TEST(Cloud, TheShippedScanIsWhatItIsSaidToBe) {
    const Points points = read_points(HK_SCAN);
    EXPECT_EQ(points.size(), 331235u);
    const Voxels voxels = voxelised(points, size_for(points, 120000));
    EXPECT_GT(voxels.centres.size(), 100000u);
    EXPECT_LT(voxels.centres.size(), 130000u);
}

TEST(Voxels, HoldTheirPoints) {
    const Points points{{5, 5, 5}, {4, 4, 4}, {4.5, 4.5, 4.5}, {4, 4, 5.9}, {6, 4, 4}};
    const Voxels voxels = voxelised(points, 1);
    const std::vector<int32_t> coordinates(
        voxels.coordinates.data<int32_t>(),
        voxels.coordinates.data<int32_t>() + voxels.coordinates.elements());
    EXPECT_EQ(coordinates, (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 2, 0, 0}));
    EXPECT_EQ(voxels.counts, (std::vector<int>{2, 1, 1, 1}));
    EXPECT_EQ(voxels.origin, (Point{4, 4, 4}));
    EXPECT_EQ(voxels.centres, (Points{{4.25, 4.25, 4.25}, {4, 4, 5.9}, {5, 5, 5}, {6, 4, 4}}));
    EXPECT_EQ(voxelised({}, 1).coordinates.shape(), (Shape{0, 4}));
}

TEST(Voxels, RefuseASizeThatCantBe) {
    for (const double size : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
        EXPECT_THROW(voxelised(kThree, size), CloudError) << size;
    }
    EXPECT_THROW(voxelised(Points{{0, 0, 0}, {1e12, 0, 0}}, 1), CloudError);
}

TEST(Voxels, ASizeForANumber) {
    std::mt19937 random(1);
    Points points;
    for (int i = 0; i < 20000; i++)
        points.push_back({random() / 4e9, random() / 4e9, random() / 8e11});
    for (const int64_t count : {1, 100, 1000}) {
        const double made =
            static_cast<double>(voxelised(points, size_for(points, count)).centres.size());
        EXPECT_GE(made, 0.7 * static_cast<double>(count));
        EXPECT_LE(made, 1.3 * static_cast<double>(count) + 3);
    }
    EXPECT_LE(voxelised(points, size_for(points, 1000000)).centres.size(), 12000u);
    EXPECT_EQ(size_for(Points{{1, 1, 1}}, 5), 1);
    EXPECT_EQ(size_for({}, 5), 1);
}

TEST(Voxels, ASizeForPointsFarApartAndCloseTogether) {
    for (const double spread : {1e-290, 1e-200, 1e200, 1e308}) {
        const Points points{{0, 0, 0}, {spread, 0, 0}};
        EXPECT_NEAR(size_for(points, 1) / spread, 1, 0.1) << spread;
    }
    // Of these no number stands for a voxel's size, or for the spread itself.
    EXPECT_THROW(size_for(Points{{0, 0, 0}, {5e-324, 0, 0}}, 1), CloudError);
    EXPECT_THROW(size_for(Points{{-1e308, 0, 0}, {1e308, 0, 0}}, 1), CloudError);
}

}  // namespace
}  // namespace hk::pointcloud
