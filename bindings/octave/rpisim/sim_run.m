function sim = sim_run(sim)
  % sim = sim_run(sim)   Runs MAX_STEP steps; sim.bodies(i).u, .quat, .nu, sim.contacts and sim.time follow.
  %
  % Before every step sim = sim.userFunction(sim) is called, if there is one: it may read everything, set
  % sim.bodies(i).Fext (force and torque, held until it is changed), and change u, quat and nu of bodies. Without it the
  % steps run in one call, and bodies and contacts are filled at the end.
  if ischar(sim.userFunction), sim.userFunction = str2func(sim.userFunction); end
  [~, ~, handle] = sim_methods(sim);
  if isempty(sim.world)
    sim.world = MoreauWorld(sim_scene(sim));
    sim.world.onSolve(handle);
  end
  forces = any([sim.bodies.Fext], 1);
  if isempty(sim.userFunction) && ~any(forces)
    sim.world.step(sim.MAX_STEP);
    sim.step = sim.step + sim.MAX_STEP;
    sim = sim_take(sim);
    return
  end
  for k = 1:sim.MAX_STEP
    sim.step = sim.step + 1;
    sim.time = sim.world.time + sim.h;
    if ~isempty(sim.userFunction)
      before = sim.bodies;
      sim = sim.userFunction(sim);
      sim_give(sim, before);
    end
    F = [sim.bodies.Fext];
    for b = find(any(F, 1))
      if sim.bodies(b).dynamic, sim.world.apply(b, F(:, b)); end
    end
    sim.world.step(1);
    sim = sim_take(sim);
  end
end

function sim = sim_take(sim)
  poses = sim.world.poses;
  velocities = sim.world.velocities;
  for b = 1:sim.num_bodies
    if ~sim.bodies(b).dynamic, continue, end
    sim.bodies(b).u = poses(b, 1:3)';
    sim.bodies(b).quat = poses(b, 4:7);
    sim.bodies(b).nu = velocities(b, :)';
  end
  sim.contacts = moreau_mex('contact_structs', sim.world.id);
  info = sim.world.info;
  sim.time = info.time;
  sim.state_hash = info.state_hash;
  sim.solution_error(end + 1) = info.velocity_error;
  for j = 1:numel(sim.joints), sim.joints(j).error = info.joint_error; end
end

function sim_give(sim, before)
  % what the user function moved goes into the world
  changed = false;
  for b = 1:sim.num_bodies
    changed = changed || ~isequal(sim.bodies(b).u, before(b).u) || ~isequal(sim.bodies(b).quat, before(b).quat) || ...
              ~isequal(sim.bodies(b).nu, before(b).nu);
  end
  if ~changed, return, end
  poses = sim.world.poses;
  velocities = sim.world.velocities;
  for b = 1:sim.num_bodies
    if ~sim.bodies(b).dynamic, continue, end
    poses(b, :) = [sim.bodies(b).u(:)', sim.bodies(b).quat(:)'];
    velocities(b, :) = sim.bodies(b).nu(:)';
  end
  sim.world.poses = poses;
  sim.world.velocities = velocities;
end
