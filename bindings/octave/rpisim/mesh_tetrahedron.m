function body = mesh_tetrahedron()
  % body = mesh_tetrahedron()   A regular tetrahedron of edge 1 m and 1 kg.
  V = [1 1 1; 1 -1 -1; -1 1 -1; -1 -1 1] / sqrt(8);
  body = Body_mesh(V, [1 2 3; 1 4 2; 1 3 4; 2 4 3]);
  body.J = eye(3) / 20;
end
