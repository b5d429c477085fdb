#include "hk/conv2d_backward.h"
