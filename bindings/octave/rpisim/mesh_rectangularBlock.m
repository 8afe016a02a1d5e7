function body = mesh_rectangularBlock(w, l, h)
  % body = mesh_rectangularBlock(w, l, h)   A block with edges w, l, h along x, y, z [m], 1 kg.
  body = mesh_cube();
  body.verts_local = body.verts_local .* repmat([w l h], 8, 1);
  body.J = diag([l ^ 2 + h ^ 2, w ^ 2 + h ^ 2, w ^ 2 + l ^ 2]) / 12;
end
