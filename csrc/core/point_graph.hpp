// Points joined by the edges of cells.
#pragma once

#include "csr.hpp"
#include "outline.hpp"
#include "types.hpp"

namespace meshpart {

Csr point_graph(const MeshView& mesh, const OutlineView& edges, int threads);

}  // namespace meshpart
