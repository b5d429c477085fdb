#pragma once
// What the fragments of docs/adding-a-kernel.md use without declaring it: they stand in a schedule.

#include "schedules/schedule.h"

using namespace hk::schedules;

struct Tile {
    int x, each;
};

extern Tile tile;
extern Context context;
