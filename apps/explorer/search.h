#pragma once
// In which order a sweep tries candidates: proposes them; the caller supplies
// what is legal and how fast each was.

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "schedules/schedule.h"

namespace hk::explorer {

// An algorithm with a schedule, and its knobs at the chooser's values. Knobs without a list of
// legal values keep theirs.
struct Base {
    std::string name;
    std::vector<schedules::Knob> knobs;
    std::vector<std::string> starts;  // knobs to begin with, those of rows
};

// Values of all knobs of a base.
struct Point {
    size_t base;
    std::vector<int> values;
    auto operator<=>(const Point &) const = default;
};

// "tile_x:8,tile_k:16": every knob whose value is one of the legal ones, others are the chooser's
// to choose, by rules that may look at the knobs.
std::string knobs_of(const Base &base, const Point &point);
// Of such a text, which may leave knobs out: they have the chooser's values. Null where it names a
// knob or a value that the base does not have.
std::optional<Point> point_of(const std::vector<Base> &bases, size_t base, const std::string &text);

class Search {
public:
    using Legal = std::function<bool(const Point &)>;
    static constexpr double failed = std::numeric_limits<double>::infinity();

    Search(std::vector<Base> bases, Legal legal, uint64_t seed);
    virtual ~Search() = default;

    // "grid": all legal values, those nearest to the chooser's first; "random": any, each alike;
    // "evolve": changes of the best so far. All begin with what the rows have. Throws
    // InvalidArgument for another name.
    static std::unique_ptr<Search> of(const std::string &strategy, std::vector<Base> bases,
                                      Legal legal, uint64_t seed);
    static std::vector<std::string> strategies();

    // Legal, and never the same twice; null when there is no other.
    std::optional<Point> next();
    // What one took, also one of an earlier run, which is then not tried again.
    void tell(const Point &point, double ns);
    // No more of this base.
    void leave(size_t base);

    const std::vector<Base> &bases() const { return bases_; }
    int64_t dropped() const { return dropped_; }  // that were asked about and not legal

protected:
    // May be known or not legal. Null: has no idea.
    virtual std::optional<Point> propose() = 0;

    std::vector<size_t> alive() const;  // bases that are not left
    Point chosen(size_t base) const;    // the chooser's values
    int below(size_t count);            // a random number from 0 to count - 1
    double fraction();                  // a random number from 0 to 1
    const std::map<Point, double> &known() const { return told_; }

private:
    class Nearest;  // points in the order of their distance from the chooser's

    std::optional<Point> take(Point point);

    std::vector<Base> bases_;
    Legal legal_;
    std::mt19937_64 random_;
    std::vector<Point> starts_;
    size_t started_ = 0;
    std::set<size_t> left_;
    std::set<Point> seen_;
    std::map<Point, double> told_;
    int64_t dropped_ = 0;
    std::shared_ptr<Nearest> rest_;
};

}  // namespace hk::explorer
