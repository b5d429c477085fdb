#include "search.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "hk/error.h"

namespace hk::explorer {

namespace {

// Place of a value in the list of legal ones, of the nearest where it is not there.
int place(const schedules::Knob &knob, int value) {
    const auto nearest = std::min_element(knob.legal.begin(), knob.legal.end(), [&](int a, int b) {
        return std::abs(a - value) < std::abs(b - value);
    });
    return static_cast<int>(nearest - knob.legal.begin());
}

bool is_legal(const schedules::Knob &knob, int value) {
    return std::find(knob.legal.begin(), knob.legal.end(), value) != knob.legal.end();
}

}  // namespace

std::string knobs_of(const Base &base, const Point &point) {
    std::string text;
    for (size_t i = 0; i < base.knobs.size(); i++) {
        if (!is_legal(base.knobs[i], point.values[i])) continue;
        text +=
            (text.empty() ? "" : ",") + base.knobs[i].name + ":" + std::to_string(point.values[i]);
    }
    return text;
}

std::optional<Point> point_of(const std::vector<Base> &bases, size_t base,
                              const std::string &text) {
    Point point{base, {}};
    const std::vector<schedules::Knob> &knobs = bases[base].knobs;
    for (const schedules::Knob &knob : knobs) point.values.push_back(knob.value);
    std::istringstream in(text);
    for (std::string item; std::getline(in, item, ',');) {
        const size_t colon = item.find(':');
        const auto knob = std::find_if(knobs.begin(), knobs.end(), [&](const schedules::Knob &k) {
            return k.name == item.substr(0, colon);
        });
        if (knob == knobs.end() || colon == std::string::npos) return std::nullopt;
        const int value = std::atoi(item.c_str() + colon + 1);
        if (value != knob->value && !is_legal(*knob, value)) return std::nullopt;
        point.values[knob - knobs.begin()] = value;
    }
    return point;
}

// Distance: steps along the lists of legal values, summed over the knobs. Lists are made a distance
// at a time: the whole product may have millions of points.
class Search::Nearest {
public:
    explicit Nearest(const Search &search) : search_(search) {}

    std::optional<Point> next() {
        while (at_ == points_.size()) {
            if (distance_ > furthest()) return std::nullopt;
            points_.clear();
            at_ = 0;
            for (const size_t base : search_.alive()) {
                Point point = search_.chosen(base);
                extend(point, 0, distance_);
            }
            distance_++;
        }
        return points_[at_++];
    }

private:
    static int reach(const schedules::Knob &knob) {
        if (knob.legal.empty()) return 0;
        const int middle = place(knob, knob.value);
        return std::max(middle, static_cast<int>(knob.legal.size()) - 1 - middle);
    }

    int furthest() const {
        int most = 0;
        for (const size_t base : search_.alive()) {
            int sum = 0;
            for (const schedules::Knob &knob : search_.bases()[base].knobs) sum += reach(knob);
            most = std::max(most, sum);
        }
        return most;
    }

    // All points whose knobs from `from` on are `left` steps away in sum.
    void extend(Point &point, size_t from, int left) {
        const std::vector<schedules::Knob> &knobs = search_.bases()[point.base].knobs;
        if (from == knobs.size()) {
            if (left == 0) points_.push_back(point);
            return;
        }
        int reachable = 0;
        for (size_t i = from; i < knobs.size(); i++) reachable += reach(knobs[i]);
        if (left > reachable) return;
        const schedules::Knob &knob = knobs[from];
        const int before = point.values[from],
                  middle = knob.legal.empty() ? 0 : place(knob, before);
        for (int step = 0; step <= std::min(left, reach(knob)); step++) {
            for (const int to : {middle + step, middle - step}) {
                if (to < 0 || (step > 0 && to >= static_cast<int>(knob.legal.size()))) continue;
                point.values[from] = step == 0 ? before : knob.legal[to];
                extend(point, from + 1, left - step);
                if (step == 0) break;
            }
        }
        point.values[from] = before;
    }

    const Search &search_;
    std::vector<Point> points_;
    size_t at_ = 0;
    int distance_ = 0;
};

Search::Search(std::vector<Base> bases, Legal legal, uint64_t seed)
    : bases_(std::move(bases)),
      legal_(std::move(legal)),
      random_(seed),
      rest_(std::make_shared<Nearest>(*this)) {
    for (size_t base = 0; base < bases_.size(); base++) {
        for (const std::string &start : bases_[base].starts)
            if (const auto point = point_of(bases_, base, start)) starts_.push_back(*point);
        starts_.push_back(chosen(base));
    }
}

// A point counts once whether it was legal or not, so that nothing is asked twice.
std::optional<Point> Search::take(Point point) {
    if (left_.contains(point.base) || !seen_.insert(point).second) return std::nullopt;
    if (legal_(point)) return point;
    dropped_++;
    return std::nullopt;
}

std::optional<Point> Search::next() {
    while (started_ < starts_.size())
        if (auto point = take(starts_[started_++])) return point;
    constexpr int tries = 500;
    for (int i = 0; i < tries; i++) {
        std::optional<Point> point = propose();
        if (!point) break;
        if ((point = take(std::move(*point)))) return point;
    }
    while (auto point = rest_->next())
        if ((point = take(std::move(*point)))) return point;
    return std::nullopt;
}

void Search::tell(const Point &point, double ns) {
    seen_.insert(point);
    told_[point] = ns;
}

void Search::leave(size_t base) { left_.insert(base); }

std::vector<size_t> Search::alive() const {
    std::vector<size_t> result;
    for (size_t base = 0; base < bases_.size(); base++)
        if (!left_.contains(base)) result.push_back(base);
    return result;
}

Point Search::chosen(size_t base) const { return *point_of(bases_, base, ""); }

// Not std::uniform_int_distribution, whose numbers differ between libraries.
int Search::below(size_t count) { return static_cast<int>(random_() % count); }
double Search::fraction() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

namespace {

class Grid : public Search {
    using Search::Search;
    std::optional<Point> propose() override { return std::nullopt; }  // the rest is the grid
};

class Random : public Search {
public:
    using Search::Search;

protected:
    std::optional<Point> propose() override {
        const std::vector<size_t> bases = alive();
        if (bases.empty()) return std::nullopt;
        double all = 0;
        for (const size_t base : bases) all += size_of(base);
        double at = fraction() * all;
        for (const size_t base : bases)
            if ((at -= size_of(base)) <= 0) return any(base);
        return any(bases.back());
    }

    Point any(size_t base) {
        Point point = chosen(base);
        for (size_t i = 0; i < point.values.size(); i++) {
            const std::vector<int> &legal = bases()[base].knobs[i].legal;
            if (!legal.empty()) point.values[i] = legal[below(legal.size())];
        }
        return point;
    }

private:
    double size_of(size_t base) const {
        double size = 1;
        for (const schedules::Knob &knob : bases()[base].knobs)
            size *= std::max<size_t>(1, knob.legal.size());
        return size;
    }
};

// Parents are the best few of all bases, so that good bases get more; one in eight is random, of a
// base by how near its best is to the best of all, so that no base is left with its first guess.
class Evolve : public Random {
public:
    using Random::Random;

protected:
    std::optional<Point> propose() override {
        const std::vector<Ranked> ranked = ranking();
        const double dice = fraction();
        if (ranked.empty()) return Random::propose();
        if (dice < 0.125) {
            const auto base = any_base(ranked.front().ns);
            if (base) return any(*base);
            return Random::propose();
        }
        constexpr size_t parents = 8;
        const auto pick = [&] {  // the better the likelier: the smaller of two
            const size_t count = std::min(parents, ranked.size());
            return ranked[std::min(below(count), below(count))].point;
        };
        Point point = pick();
        if (dice < 0.3) point = crossed(point, pick());
        mutate(point);
        if (dice > 0.65) mutate(point);
        return point;
    }

private:
    struct Ranked {
        double ns;
        Point point;
    };

    std::vector<Ranked> ranking() const {
        const std::vector<size_t> bases = alive();
        std::vector<Ranked> result;
        for (const auto &[point, ns] : known())
            if (std::isfinite(ns) && std::binary_search(bases.begin(), bases.end(), point.base))
                result.push_back({ns, point});
        std::sort(result.begin(), result.end(), [](const Ranked &a, const Ranked &b) {
            return std::tie(a.ns, a.point) < std::tie(b.ns, b.point);
        });
        return result;
    }

    std::optional<size_t> any_base(double best) {
        constexpr double least = 0.05;  // of one that has only failed so far
        const std::vector<size_t> bases = alive();
        std::map<size_t, double> weights;
        for (const size_t base : bases) weights[base] = least;
        for (const auto &[point, ns] : known()) {
            double &weight = weights[point.base];
            weight = std::max(weight, std::pow(best / ns, 2));
        }
        double all = 0;
        for (const size_t base : bases) all += weights[base];
        double at = fraction() * all;
        for (const size_t base : bases)
            if ((at -= weights[base]) <= 0) return base;
        return std::nullopt;
    }

    Point crossed(Point a, const Point &b) {
        if (a.base != b.base) return a;
        for (size_t i = 0; i < a.values.size(); i++)
            if (below(2)) a.values[i] = b.values[i];
        return a;
    }

    // A neighbour in the list of legal values, or, one time in three, any of them.
    void mutate(Point &point) {
        std::vector<size_t> free;
        const std::vector<schedules::Knob> &knobs = bases()[point.base].knobs;
        for (size_t i = 0; i < knobs.size(); i++)
            if (knobs[i].legal.size() > 1) free.push_back(i);
        if (free.empty()) return;
        const size_t i = free[below(free.size())];
        const std::vector<int> &legal = knobs[i].legal;
        int to = below(legal.size());
        if (below(3) > 0) {
            to = place(knobs[i], point.values[i]) + (below(2) ? 1 : -1);
            to = std::clamp(to, 0, static_cast<int>(legal.size()) - 1);
        }
        point.values[i] = legal[to];
    }
};

}  // namespace

std::vector<std::string> Search::strategies() { return {"grid", "random", "evolve"}; }

std::unique_ptr<Search> Search::of(const std::string &strategy, std::vector<Base> bases,
                                   Legal legal, uint64_t seed) {
    if (strategy == "grid") return std::make_unique<Grid>(std::move(bases), std::move(legal), seed);
    if (strategy == "random")
        return std::make_unique<Random>(std::move(bases), std::move(legal), seed);
    if (strategy == "evolve")
        return std::make_unique<Evolve>(std::move(bases), std::move(legal), seed);
    throw InvalidArgument("no strategy \"" + strategy + "\"; there are: grid, random, evolve");
}

}  // namespace hk::explorer
