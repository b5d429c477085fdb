#pragma once
// docs/selection.md: the row that selection takes for every case of the lists, so that a change of
// the table shows where it was meant to, and where it was not.

#include <string>

namespace hk::bench {

// Of all families, types, layouts and kinds of devices; for devices, under the limits that
// usual_limits.h has, whatever is here.
std::string selection_page();

}  // namespace hk::bench
