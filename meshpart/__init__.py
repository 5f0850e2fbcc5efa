"""meshpart: cut a mesh into exactly N parts, with everything that a parallel run needs to use them."""

from meshpart.balance import Repair
from meshpart.blocks import CellBlock, Faces
from meshpart.compare import Comparison, compare
from meshpart.errors import (
    AlignmentError,
    ArgumentError,
    FormatError,
    MeshError,
    MeshpartError,
    MeshpartWarning,
    MethodError,
    MissingDependencyError,
)
from meshpart.graph import Graph, dual_graph, point_graph
from meshpart.graph_parts import SubGraph, split_graph
from meshpart.halo import HaloPlan, exchange, reduce
from meshpart.io import read
from meshpart.labels import read_labels, write_labels
from meshpart.local_graph import LocalGraph, local_graph
from meshpart.merge import merge
from meshpart.mesh import Mesh, MeshLike, Periodic
from meshpart.mesh_file import write
from meshpart.methods import Method, Problem
from meshpart.partition import iter_partition, iter_split, partition, partition_labels, split
from meshpart.plot import plot
from meshpart.quality import Quality, quality
from meshpart.rejoin import merge_files
from meshpart.saving import write_parts
from meshpart.store import PartStore, open_parts
from meshpart.submesh import IndexMap, Provenance, SubMesh
from meshpart.version import __version__

__all__ = [
    "AlignmentError",
    "ArgumentError",
    "CellBlock",
    "Comparison",
    "Faces",
    "FormatError",
    "Graph",
    "HaloPlan",
    "IndexMap",
    "LocalGraph",
    "Mesh",
    "MeshError",
    "MeshLike",
    "MeshpartError",
    "MeshpartWarning",
    "Method",
    "MethodError",
    "MissingDependencyError",
    "PartStore",
    "Periodic",
    "Problem",
    "Provenance",
    "Quality",
    "Repair",
    "SubGraph",
    "SubMesh",
    "__version__",
    "compare",
    "dual_graph",
    "exchange",
    "iter_partition",
    "iter_split",
    "local_graph",
    "merge",
    "merge_files",
    "open_parts",
    "partition",
    "partition_labels",
    "plot",
    "point_graph",
    "quality",
    "read",
    "read_labels",
    "reduce",
    "split",
    "split_graph",
    "write",
    "write_labels",
    "write_parts",
]
