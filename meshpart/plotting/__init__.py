"""How pictures of meshes and parts are made; `meshpart.plot` is the way in."""
