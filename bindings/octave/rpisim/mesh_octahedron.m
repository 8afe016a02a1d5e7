function body = mesh_octahedron()
  % body = mesh_octahedron()   A regular octahedron with its corners 1 m from the centre, 1 kg.
  V = [1 0 0; -1 0 0; 0 1 0; 0 -1 0; 0 0 1; 0 0 -1];
  F = [1 3 5; 3 2 5; 2 4 5; 4 1 5; 3 1 6; 2 3 6; 4 2 6; 1 4 6];
  body = Body_mesh(V, F);
  body.J = eye(3) / 5;
end
