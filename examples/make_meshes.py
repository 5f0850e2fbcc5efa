"""Make the mesh that the examples split: an L-shaped bracket, modelled and meshed with gmsh.

A base with two bolt holes, an upright with a round head, a rib that stiffens the corner between them, and a
boss through the head that carries a bore. The groups bracket and boss hold the tetrahedra and share points
where they meet. The groups base, bolt_holes, bore and outer hold the triangles, one for each boundary facet.

Run it from anywhere. It writes bracket.msh beside itself, or to the path that it is given, and one version of
gmsh writes the same bytes every time::

    pip install gmsh && python examples/make_meshes.py
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import gmsh

# Lengths are in millimetres. The base lies on z = 0 and runs along x from the upright; all is symmetric in y.
LENGTH, WIDTH, THICKNESS = 90, 60, 10
RIB_LENGTH, RIB_HEIGHT, RIB_THICKNESS = 54, 32, 8
BOLT_X, BOLT_Y, BOLT_RADIUS = 68, 18, 5.5
AXIS_HEIGHT, BORE_RADIUS, BOSS_RADIUS = 64, 12, 19
BOSS_START, BOSS_LENGTH = -4, 32

# The size of a cell by its distance from the nearest hole, linear in between.
SIZES = {"SizeMin": 1.75, "SizeMax": 4.3, "DistMin": 2, "DistMax": 25}

OPTIONS = {
    "General.Terminal": 0,
    "General.NumThreads": 1,
    "Mesh.Algorithm": 6,  # frontal Delaunay for triangles
    "Mesh.Algorithm3D": 1,  # Delaunay for tetrahedra
    "Mesh.MeshSizeExtendFromBoundary": 0,  # SIZES alone decide
    "Mesh.MshFileVersion": 4.1,
    "Mesh.Binary": 1,
}

DimTag = tuple[int, int]  # gmsh's name of an entity: 3 and the tag of a volume, 2 and the tag of a surface


def main() -> None:
    """Model, name, grade, mesh and write."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("bracket.msh")
    gmsh.initialize(readConfigFiles=False)
    for name, value in OPTIONS.items():
        gmsh.option.setNumber(name, value)
    volumes = model_volumes()
    surfaces = find_surfaces(volumes)
    for dim, groups in (3, volumes), (2, surfaces):
        for name, tags in groups.items():
            gmsh.model.addPhysicalGroup(dim, tags, name=name)  # only what is in a group is written
    refine_at(surfaces["bolt_holes"] + surfaces["bore"])
    gmsh.model.mesh.generate(3)
    gmsh.write(str(path))
    print(f"{path}: {summary(path)}")
    gmsh.finalize()


def model_volumes() -> dict[str, list[int]]:
    """Build the bracket and the boss, with a common surface where they touch."""
    occ = gmsh.model.occ
    plate = occ.addRectangle(0, -WIDTH / 2, 0, LENGTH, WIDTH, roundedRadius=THICKNESS)
    base = occ.extrude([(2, plate)], 0, 0, THICKNESS)[1]
    upright = (3, occ.addBox(0, -WIDTH / 2, 0, THICKNESS, WIDTH, AXIS_HEIGHT))
    head = cylinder_on_axis(0, THICKNESS, WIDTH / 2)
    bolts = [(3, occ.addCylinder(BOLT_X, y, 0, 0, 0, THICKNESS, BOLT_RADIUS)) for y in (-BOLT_Y, BOLT_Y)]
    pin = cylinder_on_axis(BOSS_START, BOSS_LENGTH, BOSS_RADIUS)
    bore = cylinder_on_axis(BOSS_START, BOSS_LENGTH, BORE_RADIUS)

    bracket, _ = occ.fuse([base], [upright, head, add_rib()])
    bracket, _ = occ.cut(bracket, bolts)
    bracket, _ = occ.cut(bracket, [pin], removeTool=False)
    boss, _ = occ.cut([pin], [bore])
    _, (bracket, boss) = occ.fragment(bracket, boss)
    occ.synchronize()
    return {"bracket": [tag for _, tag in bracket], "boss": [tag for _, tag in boss]}


def cylinder_on_axis(start: float, length: float, radius: float) -> DimTag:
    """Add a cylinder on the axis of the bore, which is parallel to x."""
    return 3, gmsh.model.occ.addCylinder(start, 0, AXIS_HEIGHT, length, 0, 0, radius)


def add_rib() -> DimTag:
    """Add a right triangle, extruded along y, in the corner between base and upright."""
    occ = gmsh.model.occ
    corners = [(0, 0), (RIB_LENGTH, 0), (0, RIB_HEIGHT)]
    points = [occ.addPoint(THICKNESS + x, -RIB_THICKNESS / 2, THICKNESS + z) for x, z in corners]
    lines = [occ.addLine(points[i - 1], points[i]) for i in range(3)]
    triangle = occ.addPlaneSurface([occ.addCurveLoop(lines)])
    return occ.extrude([(2, triangle)], 0, RIB_THICKNESS, 0)[1]


def find_surfaces(volumes: dict[str, list[int]]) -> dict[str, list[int]]:
    """Sort the surfaces of the boundary: base and holes by the boxes that hold them, the rest is outer."""
    groups = {
        "base": surfaces_within((0, -WIDTH / 2, 0), (LENGTH, WIDTH / 2, 0)),
        "bolt_holes": surfaces_within(
            (BOLT_X - BOLT_RADIUS, -BOLT_Y - BOLT_RADIUS, 0),
            (BOLT_X + BOLT_RADIUS, BOLT_Y + BOLT_RADIUS, THICKNESS),
        ),
        "bore": surfaces_within(
            (BOSS_START, -BORE_RADIUS, AXIS_HEIGHT - BORE_RADIUS),
            (BOSS_START + BOSS_LENGTH, BORE_RADIUS, AXIS_HEIGHT + BORE_RADIUS),
        ),
    }
    taken = {tag for tags in groups.values() for tag in tags}
    # Combined, the common surface of bracket and boss is no boundary.
    boundary = gmsh.model.getBoundary([(3, tag) for tags in volumes.values() for tag in tags], oriented=False)
    return groups | {"outer": [tag for _, tag in boundary if tag not in taken]}


def surfaces_within(lower: Sequence[float], upper: Sequence[float]) -> list[int]:
    """Find the surfaces that lie wholly in the box between two corners, give or take a thousandth."""
    box = [x - 1e-3 for x in lower] + [x + 1e-3 for x in upper]
    return [tag for _, tag in gmsh.model.getEntitiesInBoundingBox(*box, dim=2)]


def refine_at(surfaces: list[int]) -> None:
    """Let the size of the cells follow SIZES away from some surfaces."""
    field = gmsh.model.mesh.field
    distance, size = field.add("Distance"), field.add("Threshold")
    field.setNumbers(distance, "SurfacesList", surfaces)
    field.setNumber(size, "InField", distance)
    for name, value in SIZES.items():
        field.setNumber(size, name, value)
    field.setAsBackgroundMesh(size)


def summary(path: Path) -> str:
    """Count what a file holds."""
    gmsh.open(str(path))
    mesh = gmsh.model.mesh
    points, _, _ = mesh.getNodes()
    triangles, _ = mesh.getElementsByType(2)
    tetrahedra, _ = mesh.getElementsByType(4)
    return f"{len(points)} points, {len(tetrahedra)} tetrahedra, {len(triangles)} triangles"


if __name__ == "__main__":
    main()
