#include "kahip.hpp"
