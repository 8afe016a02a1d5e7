function body = Body_mesh(V, F)
  % body = Body_mesh(V, F)   A convex mesh: vertices (n x 3) [m] and triangles (m x 3), counter-clockwise from outside.
  body = Body();
  body.type = 'mesh';
  body.verts_local = V;
  body.faces = F(:, 1:3);
  body.num_verts = size(V, 1);
  body.num_faces = size(F, 1);
end
