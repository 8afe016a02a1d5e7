function body = scale_mesh(body, s)
  % body = scale_mesh(body, s)   All lengths times s. As in the original mass and J grow with s too (not with its powers).
  body.verts_local = s * body.verts_local;
  body.radius = s * body.radius;
  body.mass = s * body.mass;
  body.J = s * body.J;
end
