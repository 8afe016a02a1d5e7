function body = mesh_cube()
  % body = mesh_cube()   A cube of edge 1 m and 1 kg.
  [x, y, z] = ndgrid([-0.5 0.5]);
  V = [x(:) y(:) z(:)];
  F = [1 3 4; 1 4 2; 5 6 8; 5 8 7; 1 2 6; 1 6 5; 3 7 8; 3 8 4; 1 5 7; 1 7 3; 2 4 8; 2 8 6];
  body = Body_mesh(V, F);
  body.J = eye(3) / 6;
end
