#pragma once
// Which rows of a result a reference computes: all, or a sample where all take too long. A row is
// what lies along the last dimension of the reference's order.

#include <cstdint>
#include <vector>

namespace hk::reference {

class Rows {
public:
    Rows() = default;  // all of them

    // Of `all` rows that take `products` multiplications the first, the last and others at random,
    // until they take 50 million: a twentieth of a second.
    static Rows sampled(int64_t all, double products);

    // How many of `all` rows these are.
    int64_t among(int64_t all) const { return whole() ? all : static_cast<int64_t>(rows_.size()); }

    // Where the reference's result has a row, or -1; and the row that it has there.
    int64_t place(int64_t row) const { return whole() ? row : places_[row]; }
    int64_t at(int64_t place) const { return whole() ? place : rows_[place]; }

private:
    bool whole() const { return rows_.empty(); }

    std::vector<int64_t> rows_, places_;
};

}  // namespace hk::reference
