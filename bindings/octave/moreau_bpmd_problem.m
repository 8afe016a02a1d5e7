function p = moreau_bpmd_problem(frame)
  % p = moreau_bpmd_problem(frame)   The contact problem of a frame of moreau_read_bpmd: Coulomb's law with exact cones.
  %
  %   u = W z + q,   z = impulses (normal, two tangents) of all contacts [N s],   u: relative velocities + [gap/h; 0; 0]
  %
  % Fields: W, q, mu, M (6 n x 6 n), G (6 n x 3 m), nu_free, gap, h, row. moreau_solve('fc3d', p.W, p.q, 'mu', p.mu) solves it,
  % moreau_write_answer gives the answer back. Bodies with contacts only: worlds with joints or robots have their rows in
  % frame.data.constraints and .trees (docs/bpmd.md). Spatial worlds without restitution.
  d = frame.data;
  if isfield(d, 'trees') || isfield(d, 'constraints')
    error('moreau:badInput', '%s has joints or robots; their rows are in the fields constraints and trees', frame.name);
  end
  b = d.bodies;
  c = d.contacts;
  n = numel(b.masses);
  m = numel(c.gaps);
  if any(b.dof(:) == 3), error('moreau:badInput', '%s is planar', frame.name); end
  if any(c.restitution(:) > 0), error('moreau:badInput', '%s has restitution, which is more than this problem', frame.name); end
  I = reshape(b.free_inertia_tensors, 3, 3, n);
  p.M = zeros(6 * n);
  moves = isfinite(b.masses(:));
  inverse = zeros(6 * n);
  for k = 1:n
    i = 6 * k + (-5:0);
    if ~moves(k), continue, end
    p.M(i, i) = blkdiag(b.masses(k) * eye(3), I(:, :, k));
    inverse(i, i) = inv(p.M(i, i));
  end
  p.nu_free = b.free_velocities(:);
  position = reshape(b.positions, 3, n);
  pairs = reshape(c.pairs, 2, m);
  points = cat(3, reshape(c.points, 3, m), reshape(c.points_2, 3, m));
  normals = reshape(c.normals, 3, m);
  tangents = reshape(c.tangents, 6, m);
  p.G = zeros(6 * n, 3 * m);
  for k = 1:m
    middle = mean(points(:, k, :), 3);
    for side = 1:2
      body = find(b.ids == pairs(side, k));
      if isempty(body), continue, end % the world
      for r = 1:3
        if r == 1, direction = normals(:, k); at = points(:, k, side);
        else, direction = tangents(3 * r + (-5:-3), k); at = middle; end
        sign = 2 * side - 3;
        p.G(6 * body + (-5:0), 3 * k - 3 + r) = sign * [direction; cross(at - position(:, body), direction)];
      end
    end
  end
  p.h = d.timestep;
  p.gap = c.gaps(:);
  p.row = (1:3:3 * m)';
  mu = reshape(c.mu_s, 2, m);
  p.mu = mu(1, :)';
  p.W = p.G' * inverse * p.G;
  p.q = p.G' * p.nu_free;
  p.q(p.row) = p.q(p.row) - min(-p.gap / p.h, c.recovery(:)); % a penetration is pushed out at a bounded speed
end
