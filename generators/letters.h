#pragma once
// The index letters of all families. A family's header says what its own are of.

#include "Halide.h"

namespace hk::generators {

inline const Halide::Var n{"n"}, c{"c"}, g{"g"}, k{"k"}, x{"x"}, y{"y"}, z{"z"}, s{"s"}, r{"r"};
inline const Halide::Var i{"i"}, m{"m"}, o{"o"}, t{"t"}, b{"b"}, q{"q"}, w{"w"};
inline const Halide::Var place{"place"}, element{"element"}, row{"row"};

}  // namespace hk::generators
