function scene = sim_scene(sim)
  % scene = sim_scene(sim)   The simulation as a scene of Moreau (docs/scene.md), as a struct.
  [formulation, solver] = sim_methods(sim);
  scene = struct('moreau', 1, 'name', 'rpisim', 'time', struct('step', sim.h));
  scene.gravity = sim.gravity * sim.gravityVector(:)';
  method = struct('friction_directions', sim.num_fricdirs);
  if ~isempty(formulation), method.formulation = formulation; end
  if ~isempty(solver), method.solver = solver; end
  if any(strcmp(formulation, {'peg', 'peg-exact', 'peg-heuristic'})), method.collision = 'features'; end
  scene.method = method;
  values = unique([sim.bodies.mu]);
  materials = struct();
  pairs = {};
  for a = 1:numel(values)
    materials.(sprintf('mu%d', a)) = struct('friction', values(a) * sim.FRICTION);
    for b = a:numel(values)
      if strcmp(sim.friction_rule, 'rpisim')
        mu = 0.5 * values(a) * values(b) * sim.FRICTION;
        pairs{end + 1} = struct('materials', {{sprintf('mu%d', a), sprintf('mu%d', b)}}, 'friction', mu);
      end
    end
  end
  scene.materials = materials;
  if ~isempty(pairs), scene.pairs = pairs; end
  scene.bodies = cell(1, sim.num_bodies);
  ignored = {};
  for k = 1:sim.num_bodies
    b = sim.bodies(k);
    s = struct('name', b.name, 'material', sprintf('mu%d', find(values == b.mu)), 'position', b.u(:)', ...
               'orientation', b.quat(:)');
    s.shape = body_shape(b);
    if b.dynamic
      s.mass = b.mass;
      J = b.J;
      s.inertia = [J(1, 1) J(2, 2) J(3, 3) J(1, 2) J(1, 3) J(2, 3)];
      s.com = [0 0 0];
      s.velocity = b.nu(1:3)';
      s.angular_velocity = b.nu(4:6)';
    else
      s.fixed = true;
    end
    if ~b.collides, s.collide = false; end
    scene.bodies{k} = s;
    for other = b.doesNotCollideWith(:)'
      ignored{end + 1} = {b.name, sim.bodies(other).name};
    end
  end
  if ~isempty(ignored), scene.ignore_pairs = ignored; end
  joints = cell(1, numel(sim.joints));
  for k = 1:numel(joints)
    j = sim.joints(k);
    joints{k} = struct('name', sprintf('joint_%d', k), 'type', j.type, ...
                       'bodies', {{sim.bodies(j.body1id).name, sim.bodies(j.body2id).name}}, 'point', j.pos', ...
                       'axis', j.dir');
  end
  if ~isempty(joints), scene.joints = joints; end
end

function shape = body_shape(b)
  switch b.type
    case 'sphere', shape = struct('sphere', b.radius);
    case 'plane', shape = struct('plane', struct('normal', b.plane_normal(:)', 'point', [0 0 0]));
    case 'mesh', shape = struct('hull', b.verts_local);
    otherwise, error('moreau:badInput', 'body %s: the type must be mesh, sphere or plane', b.name);
  end
end
