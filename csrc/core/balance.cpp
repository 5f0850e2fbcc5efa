#include "balance.hpp"
