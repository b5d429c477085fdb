#pragma once
// The tests of what selection takes of families that convolve.

#include "tests/convolution/random_problem.h"
#include "tests/kernels/family.h"

namespace hk::test {

// Blocks of GPUs compute whole tiles, which groups of few channels and filters leave part empty:
// problems of many of these would take as long as all others.
inline int64_t tile_of(DeviceType device) { return device == DeviceType::cpu ? 1 : 16; }

class LayoutTest : public DeviceTest,
                   public testing::WithParamInterface<std::tuple<DeviceType, Layout, DataType>> {
protected:
    Conv2dRequest request(Data data) const {
        const auto [device, layout, type] = GetParam();
        const double operations = device == DeviceType::cpu    ? 2e6
                                  : device == DeviceType::cuda ? 1e5
                                                               : 5e5;
        return {type, layout, data, {}, operations, tile_of(device)};
    }

    // Of a family: every third problem of real numbers where `reals`.
    template<typename Case>
    void check_problems(int count, bool reals = true) const {
        for (const Device device : devices_) {
            check_random<Case>(device, count, [&](uint64_t seed) {
                return request(reals && seed % 3 == 0 ? Data::reals : Data::integers);
            });
            check_empty<Case>(device, request(Data::integers));
        }
    }
    template<typename Case>
    void check_threads() const {
        for (const Device device : devices_)
            check_two_threads<Case>(device, request(Data::integers));
    }
};

// On all kinds of devices.
inline auto layout_tests(const std::vector<DataType> &types = {DataType::f32, DataType::f16,
                                                               DataType::bf16}) {
    return testing::Combine(testing::Values(DeviceType::cpu, DeviceType::opencl, DeviceType::cuda),
                            testing::Values(Layout::nhwc, Layout::nchw), testing::ValuesIn(types));
}

// Whether a row takes so many groups where its result is added to what the memory holds.
inline bool takes_in_place(const KernelInfo &row, int64_t groups) {
    return std::ranges::all_of(row.where, [&](const Constraint &constraint) {
        return constraint.field != std::string_view("groups_in_place") || holds(constraint, groups);
    });
}

// Whether a row is for long sums, whose parts other kernels add.
inline bool in_parts(const KernelInfo &row) {
    return std::max(range_of(row.where, "parts").first, range_of(row.where, "input_parts").first) >
           0;
}

// What an imitated GPU runs of a schedule in the time of a test; as many tiles as a row of
// Winograd's asks for, as many terms as one of panels, and some pixels of sums in parts.
inline double operations_of(const KernelInfo &row) {
    if (row.device == DeviceType::cuda && in_parts(row)) return 1e6;
    if (row.algorithm == std::string_view("winograd")) return 1e7;
    if (row.algorithm == std::string_view("packed_panels")) return 4e7;
    return row.device == DeviceType::cpu ? 2e6 : row.device == DeviceType::cuda ? 2e5 : 1e6;
}

inline Conv2dRequest request_of(const KernelInfo &row, Data data,
                                std::span<const Constraint> where) {
    return {row.type, row.layout, data, where, operations_of(row), tile_of(row.device)};
}

// A row of such a family.
template<typename Case>
class LayoutRowTest : public RowTest {
protected:
    // `more`: conditions beside the row's own.
    void check_row(Data data, int problems, const std::vector<Constraint> &more = {}) {
        const KernelInfo &row = GetParam();
        std::vector<Constraint> where(row.where.begin(), row.where.end());
        where.insert(where.end(), more.begin(), more.end());
        // A problem takes longer where GPUs are imitated, CUDA's with all checks.
        if (row.device == DeviceType::opencl) problems = (problems + 1) / 2;
        // Sums in parts are of several kernels, each of which only some problems run.
        if (row.device == DeviceType::cuda) problems = (problems + 5) / 6 * (in_parts(row) ? 3 : 1);
        for (const Device device : devices_)
            test::check_row<Case>(row, device, request(data, where), problems, seen_);
    }

    // Blocks of GPUs have 64 channels or filters at most, 128 in large rows, which are random
    // problems' most.
    void check_several_tiles() {
        if (GetParam().device == DeviceType::cpu) return;
        for (const char *field : {"channels_per_group", "filters_per_group"}) {
            if (is_free(field))
                check_row(Data::integers, 3, {{field, Constraint::Relation::at_least, tiled()}});
        }
    }

    // Outputs that fill tiles, of few channels: on GPUs each element of a thread has code of its
    // own for each of the activations.
    void check_whole_tiles(Data data, std::initializer_list<Activation> activations) {
        const KernelInfo &row = GetParam();
        if (row.device == DeviceType::cpu) return;
        std::vector<Constraint> where(row.where.begin(), row.where.end());
        const auto add = [&](const char *field, Constraint::Relation relation, int64_t value) {
            where.push_back({field, relation, range_of(row.where, field).moved(value)});
        };
        // Parts are added in small tiles.
        const bool parts = in_parts(row);
        const bool of_groups = !is_free("channels_per_group") && !is_free("filters_per_group");
        if (of_groups) add("groups", Constraint::Relation::at_least, 33);
        if (is_free("filters_per_group"))
            add("filters_per_group", Constraint::Relation::at_least, tiled());
        if (is_free("channels_per_group") && !parts)
            add("channels_per_group", Constraint::Relation::at_most, 4);
        add("out_h", Constraint::Relation::at_least, parts ? 1 : 9);
        add("out_w", Constraint::Relation::at_least, parts ? 9 : 17);
        for (const Device device : devices_) {
            VariedCases<Case, Conv2dRequest> cases(request(data, where), 200, seen_);
            for (const Activation activation : activations) {
                const bool ran = runs_one(cases, device, [&](const Case &c) {
                    return c.problem.options.activation == activation;
                });
                EXPECT_TRUE(ran || std::getenv("HK_SEED")) << name_of(activation);
            }
        }
    }

    // Sums over more pixels than blocks have loaded before they begin, of few channels.
    void check_many_pixels() {
        if (GetParam().device == DeviceType::cpu) return;
        const int64_t rows = range_of(GetParam().where, "out_h").moved(10);
        std::vector<Constraint> more{
            {"out_h", Constraint::Relation::at_least, rows},
            {"out_w", Constraint::Relation::at_least, rows > 1 ? 31 : 300}};
        for (const char *field : {"channels_per_group", "filters_per_group"}) {
            const int64_t least = range_of(GetParam().where, field).moved(8);
            if (is_free(field)) more.push_back({field, Constraint::Relation::at_most, least});
        }
        check_row(Data::integers, 3, more);
    }

    // Of products of matrices: vectors of the sum's channels that are not whole, of tensors that
    // end or begin where the memory does. What is read past the last channel is no part of the sum.
    void check_last_vectors(Data data, const char *field = "channels_per_group") {
        const KernelInfo &row = GetParam();
        const bool matrices = std::string_view(row.name).find("matrices") != std::string_view::npos;
        if (row.device == DeviceType::cpu || !matrices) return;
        // Two or three vectors of a slice's four, or of long sums some more; or less than one.
        const bool few = range_of(row.where, field).last < 24;
        const int64_t whole = few ? 0 : in_parts(row) ? 144 : 16;
        const auto packed = [](Placement placement) {
            return placement == Placement::packed || placement == Placement::aligned;
        };
        for (int64_t rest = 0; rest < 8; rest++) {
            std::vector<Constraint> where(row.where.begin(), row.where.end());
            where.push_back({field, Constraint::Relation::equal, whole + rest});
            for (const Device device : devices_) {
                VariedCases<Case, Conv2dRequest> cases(request(data, where), 100, seen_);
                const auto wanted = [&](const Case &c) {
                    const auto &[top, bottom, left, right] = c.problem.options.padding;
                    return packed(c.input) && packed(c.weight) && top + bottom + left + right == 0;
                };
                if constexpr (requires(Case c) { c.infinite_weight; }) {
                    if (runs_one(cases, device,
                                 [&](const Case &c) { return wanted(c) && c.infinite_weight; }))
                        continue;
                }
                runs_one(cases, device, wanted);
            }
        }
    }

private:
    static Conv2dRequest request(Data data, std::span<const Constraint> where) {
        return request_of(GetParam(), data, where);
    }

    // Whether there is a case that is wanted and not refused, which runs.
    template<typename Wanted>
    static bool runs_one(VariedCases<Case, Conv2dRequest> &cases, Device device,
                         const Wanted &wanted) {
        while (const auto c = cases.next(wanted)) {
            if (check(*c, device, &GetParam()) != Outcome::refused) return true;
        }
        return false;
    }

    // Whether a row takes any large number of it.
    static bool is_free(const char *field) {
        return std::ranges::none_of(GetParam().where, [&](const Constraint &c) {
            return c.field == std::string_view(field) &&
                   c.relation != Constraint::Relation::at_least &&
                   c.relation != Constraint::Relation::multiple_of;
        });
    }

    static int64_t tiled() {
        return std::string_view(GetParam().knobs).find(":128") != std::string::npos ? 130 : 67;
    }

protected:
    Traits seen_;  // of the problems that ran
};

// Rows of such a family refuse problems of the layout that they are not for.
template<typename Case>
void expect_other_layouts_refused(std::span<const KernelInfo> kernels,
                                  bool (*taken)(const KernelInfo &kernel) = nullptr) {
    for (const KernelInfo &kernel : kernels) {
        if (taken && taken(kernel)) continue;
        const Layout other = kernel.layout == Layout::nhwc ? Layout::nchw : Layout::nhwc;
        const auto c = random_case<Case>(1, {kernel.type, other, Data::integers, {}, 1e5});
        ASSERT_TRUE(c);
        for (const Device device : devices_of(kernel.device))
            EXPECT_EQ(check(*c, device, &kernel), Outcome::refused) << kernel.name;
    }
}

// Rows of a CPU that take images of nchw, too, of copies.
inline bool takes_copies(const KernelInfo &row) {
    return row.device == DeviceType::cpu && row.layout == Layout::nhwc;
}

// Right, or refused for another reason than the layout.
template<typename Case>
void expect_copies_are_taken(std::span<const KernelInfo> rows) {
    int passed = 0, count = 0;
    for (const KernelInfo &row : rows) {
        if (!takes_copies(row)) continue;
        const auto cases =
            random_cases<Case>(4, {row.type, Layout::nchw, Data::integers, row.where, 1e5});
        if (cases.empty()) continue;
        count++;
        passed += std::ranges::any_of(
            cases, [&](const Case &c) { return check(c, Device::cpu(), &row) == Outcome::passed; });
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(passed, count / 2);
}

}  // namespace hk::test
