#include "principal.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hk::pointcloud {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The three first, a column each; of fewer than three channels the others are zeros.
Eigen::MatrixX3d principal_components(const Eigen::Map<const Matrix> &features) {
    const Eigen::MatrixXd centred =
        features.cast<double>().rowwise() - features.cast<double>().colwise().mean();
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(centred.transpose() * centred);
    const Eigen::Index count = std::min<Eigen::Index>(3, features.cols());
    Eigen::MatrixX3d components = Eigen::MatrixX3d::Zero(features.rows(), 3);
    // Eigenvalues ascend.
    components.leftCols(count) = centred * axes.eigenvectors().rightCols(count).rowwise().reverse();
    return components;
}

// Each value becomes its place among all, 0 to 1: few rows of large values leave colours for
// others.
void spread(Eigen::Ref<Eigen::VectorXd> values) {
    std::vector<Eigen::Index> order(static_cast<size_t>(values.size()));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    std::sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
        return values[a] < values[b] || (values[a] == values[b] && a < b);
    });
    const double most = static_cast<double>(values.size()) - 1;
    Eigen::Index place = 0;
    for (const Eigen::Index i : order) values[i] = most > 0 ? static_cast<double>(place++) / most : 0.5;
}

}  // namespace

std::vector<pictures::Colour> colours_of(const Tensor &features) {
    const int64_t rows = features.shape()[0];
    if (rows == 0) return {};
    Eigen::MatrixX3d components =
        principal_components({features.data<float>(), rows, features.shape()[1]});
    for (Eigen::Index a = 0; a < 3; a++) spread(components.col(a));
    std::vector<pictures::Colour> colours(static_cast<size_t>(rows));
    for (int64_t r = 0; r < rows; r++) {
        for (Eigen::Index a = 0; a < 3; a++) {
            colours[static_cast<size_t>(r)][static_cast<size_t>(a)] =
                static_cast<uint8_t>(std::lround(55 + 200 * components(r, a)));
        }
    }
    return colours;
}

}  // namespace hk::pointcloud
