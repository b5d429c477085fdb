#pragma once
// Few random cases that run much of a kernel's code: each has most of what those before it lack.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/seed.h"

namespace hk::test {

// Values of the traits of cases, by their place.
using Traits = std::set<std::pair<size_t, int64_t>>;

// Cases without traits() are in the order of their seeds.
template<typename Case, typename Request>
class VariedCases {
public:
    // Of so many draws those that meet the request. `seen`: what cases have that ran.
    VariedCases(const Request &request, int draws, Traits &seen)
        : request_(request), seeds_(seeds(draws)), seen_(seen) {}

    std::optional<Case> next() {
        return next([](const Case &) { return true; });
    }

    // Of those that are wanted.
    template<typename Wanted>
    std::optional<Case> next(const Wanted &wanted) {
        draw(wanted);
        const auto news = [&](const Drawn &d) { return wanted(d.of) ? unseen(d) : -1; };
        const auto best = std::ranges::max_element(drawn_, {}, news);
        if (best == drawn_.end() || !wanted(best->of)) return {};
        const Drawn d = std::move(*best);
        drawn_.erase(best);
        for (size_t i = 0; i < d.traits.size(); i++) seen_.emplace(i, d.traits[i]);
        return d.of;
    }

private:
    struct Drawn {
        Case of;
        std::vector<int64_t> traits;
    };

    // Until there is a choice of twenty.
    template<typename Wanted>
    void draw(const Wanted &wanted) {
        auto count = std::ranges::count_if(drawn_, [&](const Drawn &d) { return wanted(d.of); });
        while (count < 20 && place_ < seeds_.size()) {
            auto c = random_case<Case>(seeds_[place_++], request_);
            if (!c) continue;
            Drawn d{std::move(*c), {}};
            if constexpr (requires { d.of.traits(); }) d.traits = d.of.traits();
            count += wanted(d.of);
            drawn_.push_back(std::move(d));
        }
    }

    int64_t unseen(const Drawn &d) const {
        int64_t count = 0;
        for (size_t i = 0; i < d.traits.size(); i++) count += !seen_.contains({i, d.traits[i]});
        return count;
    }

    Request request_;
    std::vector<uint64_t> seeds_;
    size_t place_ = 0;
    std::vector<Drawn> drawn_;
    Traits &seen_;
};

}  // namespace hk::test
