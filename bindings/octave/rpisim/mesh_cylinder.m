function body = mesh_cylinder(nv, m, r, h)
  % body = mesh_cylinder(nv, m, r, h)   A prism with nv sides, circumradius r, height h [m]; as in the original the mass stays
  % 1 kg, J is that of a solid cylinder of m kg.
  a = 2 * pi * (0:nv - 1)' / nv;
  ring = [r * cos(a), r * sin(a)];
  V = [ring, -h / 2 * ones(nv, 1); ring, h / 2 * ones(nv, 1); 0 0 -h / 2; 0 0 h / 2];
  i = (1:nv)';
  j = [2:nv, 1]';
  low = (2 * nv + 1) * ones(nv, 1);
  F = [i j j + nv; i j + nv i + nv; low j i; low + 1, i + nv, j + nv];
  body = Body_mesh(V, F);
  body.J = diag([m * (3 * r ^ 2 + h ^ 2) / 12 * [1 1], m * r ^ 2 / 2]);
end
