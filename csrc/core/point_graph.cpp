#include "point_graph.hpp"
