// Are a GPU's top-k those of std::stable_sort, with every way that topk_plan takes: one tile, lists
// that are sorted again, columns, and merges; in memory as small as none.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "hk/topk.h"
#include "tests/support/environment.h"

namespace hk::test {
namespace {

enum class Data { random, few_values, equal, sorted, reversed };

constexpr Data kAll[] = {Data::random, Data::few_values, Data::equal, Data::sorted, Data::reversed};

std::vector<Device> gpus() {
    std::vector<Device> devices = Device::all();
    std::erase_if(devices, [](Device device) { return device.is_cpu(); });
    return devices;
}

template<typename T>
std::vector<T> elements(Data data, int64_t count, std::mt19937_64 &random) {
    std::vector<T> values(count);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = random();
        switch (data) {
            case Data::random:
                if constexpr (std::is_floating_point_v<T>) {
                    values[i] = static_cast<T>(static_cast<int64_t>(bits) >> 20);
                } else {
                    std::memcpy(&values[i], &bits, sizeof(T));
                }
                break;
            case Data::few_values:
                values[i] = static_cast<T>(bits % 5);
                break;
            case Data::equal:
                values[i] = static_cast<T>(3);
                break;
            case Data::sorted:
                values[i] = static_cast<T>(i);
                break;
            case Data::reversed:
                values[i] = static_cast<T>(count - i);
                break;
        }
    }
    return values;
}

struct Case {
    int64_t rows, columns, k;
    Data data;
    Order order;
};

std::string to_string(const Case &c, DataType type, Device device) {
    return device.name() + " " + std::string(name_of(type)) + ", " + std::to_string(c.rows) +
           " rows of " + std::to_string(c.columns) + ", k " + std::to_string(c.k) + ", " +
           std::string(name_of(c.order)) + ", data " + std::to_string(static_cast<int>(c.data));
}

// Values, indices, both, and indices of 64 bits, each into memory that was something else.
template<typename T>
void check(const Case &c, DataType type, Device device, std::mt19937_64 &random) {
    const Tensor input({c.rows, c.columns}, type);
    const std::vector<T> values = elements<T>(c.data, c.rows * c.columns, random);
    std::copy(values.begin(), values.end(), input.data<T>());
    std::vector<T> best;
    std::vector<int64_t> places;
    for (int64_t row = 0; row < c.rows; row++) {
        const T *of_row = values.data() + row * c.columns;
        std::vector<int64_t> order(c.columns);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
            return c.order == Order::largest ? of_row[a] > of_row[b] : of_row[a] < of_row[b];
        });
        for (int64_t i = 0; i < c.k; i++) {
            best.push_back(of_row[order[i]]);
            places.push_back(order[i]);
        }
    }
    const Tensor there = input.to(device);
    const auto output = [&](DataType of) { return Tensor::zeros({c.rows, c.k}, of, device); };
    const auto check_values = [&](const Tensor &found) {
        const Tensor here = found.to(Device::cpu());
        ASSERT_TRUE(std::equal(best.begin(), best.end(), here.data<T>()))
            << to_string(c, type, device);
    };
    const auto check_places = [&]<typename I>(const Tensor &found, I) {
        const Tensor here = found.to(Device::cpu());
        ASSERT_TRUE(std::equal(places.begin(), places.end(), here.data<I>()))
            << to_string(c, type, device);
    };
    const TopKOptions options{-1, c.order, true};
    const Tensor alone = output(type), both = output(type);
    const Tensor s32 = output(DataType::s32), s64 = output(DataType::s64);
    topk(there, c.k, alone, {}, options);
    check_values(alone);
    topk(there, c.k, {}, s32, options);
    check_places(s32, int32_t{});
    topk(there, c.k, both, s64, options);
    check_values(both);
    check_places(s64, int64_t{});
}

template<typename T>
void check_all(DataType type, int64_t most) {
    std::mt19937_64 random(7);
    for (const Device device : gpus()) {
        for (const int64_t columns : {1, 2, 7, 1000, 1025, 5000, 70000}) {
            for (const int64_t k :
                 {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{50}, columns - 1, columns}) {
                if (k < 1 || k > columns || columns > most) continue;
                const int64_t rows = columns < 3000 ? 3 : 1;
                const Data data = kAll[random() % std::size(kAll)];
                const Order order = random() % 2 ? Order::largest : Order::smallest;
                check<T>({rows, columns, k, data, order}, type, device, random);
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

class TopKOnGpu : public testing::TestWithParam<const char *> {};

TEST_P(TopKOnGpu, IsThatOfAStableSort) {
    const Environment limit("HK_SHARED_LIMIT", GetParam());
    const int64_t most = 100000;
    check_all<uint8_t>(DataType::u8, most);
    check_all<int16_t>(DataType::s16, most);
    check_all<float>(DataType::f32, most);
    check_all<double>(DataType::f64, most);
}

// Columns of long rows: more tiles than fill a GPU.
TEST(TopKOfManyRowsOnGpu, IsThatOfAStableSort) {
    std::mt19937_64 random(8);
    for (const Device device : gpus()) {
        for (const Data data : kAll) {
            check<float>({130, 9000, 5, data, Order::largest}, DataType::f32, device, random);
            check<int64_t>({60, 70001, 17, data, Order::smallest}, DataType::s64, device, random);
            check<uint8_t>({400, 3000, 300, data, Order::largest}, DataType::u8, device, random);
            if (HasFatalFailure()) return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(SharedBytes, TopKOnGpu, testing::Values("0", "4096", "49152"),
                         [](const auto &info) { return std::string("limit") + info.param; });

}  // namespace
}  // namespace hk::test
