#include "cpu_limit.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "HalideRuntime.h"
#include "hk/error.h"

namespace hk::detail {

namespace {

using Feature = halide_target_feature_t;

constexpr Feature kBeyondAvx2[] = {halide_target_feature_avx512,
                                   halide_target_feature_avx512_knl,
                                   halide_target_feature_avx512_skylake,
                                   halide_target_feature_avx512_cannonlake,
                                   halide_target_feature_avx512_zen4,
                                   halide_target_feature_avx512_zen5,
                                   halide_target_feature_avx512_sapphirerapids};
constexpr Feature kBeyondSse41[] = {halide_target_feature_avx,     halide_target_feature_avx2,
                                    halide_target_feature_avxvnni, halide_target_feature_fma,
                                    halide_target_feature_fma4,    halide_target_feature_f16c};
constexpr Feature kBeyondX86[] = {halide_target_feature_sse41};

// A level, and what the one before it has and it lacks.
struct Level {
    std::string_view name;
    std::span<const Feature> lacks;
};
constexpr Level kLevels[] = {
    {"avx512", {}}, {"avx2", kBeyondAvx2}, {"sse41", kBeyondSse41}, {"x86-64", kBeyondX86}};

// Throws InvalidArgument, each time, for a value that is none.
const std::optional<size_t> &level_of_process() {
    static const std::optional<size_t> level = [] {
        const char *text = std::getenv("HK_CPU");
        return cpu_level(text ? text : "", HK_PORTABLE);
    }();
    return level;
}

// Halide asks before it calls the code of a level; call_kernel() has checked the variable.
int can_use(int count, const uint64_t *features) {
    if (!allows(level_of_process(), {features, static_cast<size_t>(count)})) return 0;
    return halide_default_can_use_target_features(count, features);
}

[[maybe_unused]] const auto replaced = halide_set_custom_can_use_target_features(can_use);

}  // namespace

std::optional<size_t> cpu_level(std::string_view text, bool portable) {
    if (text.empty()) return std::nullopt;
    const auto found = std::ranges::find(kLevels, text, &Level::name);
    const std::string is = "HK_CPU is \"" + std::string(text) + "\"";
    if (found == std::end(kLevels))
        throw InvalidArgument(is + ", not avx512, avx2, sse41 or x86-64");
    if (!portable) {
        throw InvalidArgument(is +
                              ", but kernels are compiled for one CPU; those of the portable "
                              "preset (-DHK_PORTABLE=ON) are chosen at run time");
    }
    return static_cast<size_t>(found - kLevels);
}

bool allows(std::optional<size_t> level, std::span<const uint64_t> features) {
    for (size_t i = 1; level && i <= *level; i++) {
        for (const Feature feature : kLevels[i].lacks) {
            const size_t word = feature / 64;
            if (word < features.size() && (features[word] >> (feature % 64) & 1)) return false;
        }
    }
    return true;
}

bool may_use(std::string_view level) noexcept try {
    const Level *const found = std::ranges::find(kLevels, level, &Level::name);
    return level_of_process().value_or(0) <= static_cast<size_t>(found - kLevels);
} catch (const InvalidArgument &) {
    return false;
}

void check_cpu_limit() { level_of_process(); }

}  // namespace hk::detail
