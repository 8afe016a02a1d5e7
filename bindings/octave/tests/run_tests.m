% Tests of the functions for Octave and MATLAB: run_tests(COMMAND, SCENES, EXAMPLES)
% Prints one line per test; the exit status is 1 when one failed.
function run_tests(command, scenes, examples)
  here = fileparts(mfilename('fullpath'));
  addpath([here '/..'], [here '/../rpisim']);
  tests = {@same_bits_as_the_command, @views_and_setters, @errors_have_the_sentence, @snapshots, @forces, ...
           @own_formulation, @a_function_that_fails, @problems_and_solvers, @closed_worlds, @many_worlds, ...
           @hello_world_of_the_paper, @sphere_drop, @sliding_block, @user_function, @own_solver, @hanging_rod, @plots, @bpmd, ...
           @robots, @robots_many_states, @robots_refuse, @many_robots, ...
           @(c, s) controllers_in_another_process(c, examples), @nobody_there, @scenes_by_name};
  failed = 0;
  for k = 1:numel(tests)
    name = regexprep(func2str(tests{k}), {'^@\([^)]*\) *', ' *\(.*'}, '');
    try
      tests{k}(command, scenes);
      fprintf('[       OK ] %s\n', name);
    catch problem
      fprintf('[  FAILED  ] %s: %s\n', name, problem.message);
      failed = failed + 1;
    end
  end
  fprintf('%d passed, %d failed\n', numel(tests) - failed, failed);
  if failed, error('moreau:tests', 'some tests failed'); end
end

function expect(truth, text)
  if ~all(truth(:)), error('expected: %s', text); end
end

function path = scene(folder, name)
  found = [dir([folder '/' name '.yaml']); dir([folder '/*/' name '.yaml'])];
  path = [found(1).folder '/' found(1).name];
end

function same_bits_as_the_command(command, scenes)
  names = {'bounce', 'stack', 'peg_in_hole', 'sphere_drop', 'sliding_block', 'sphere_on_sphere', 'spheres_on_cube', ...
           'simtest', 'spheres_8', 's2', 's4_slide', 'conveyor', 'flat_discs', 'flat_sawtooth', 'incline', 'tumbling_box', ...
           'four_bar', 'slider_crank', 'hanging_rod', 'chain_10', 'humanoid_stand', 'quadruped_trot'};
  for k = 1:numel(names)
    [~, text] = system([command ' run ' names{k} ' --steps 20 --json --quiet 2>/dev/null']);
    expected = jsondecode(text);
    w = MoreauWorld(scene(scenes, names{k}));
    try, w.step(20); catch, end
    i = w.info;
    expect(strcmp(i.state_hash, expected.state_hash), [names{k} ' has the hash of the command']);
  end
end

function w = ball()
  w = MoreauWorld(struct('bodies', {{struct('name', 'floor', 'shape', 'plane', 'fixed', true), ...
                                     struct('name', 'ball', 'shape', struct('sphere', 0.5), 'mass', 1, ...
                                            'position', [0 0 2])}}));
end

function views_and_setters(~, ~)
  w = ball();
  w.step(20);
  p = w.poses;
  expect(abs(p(2, 3) - (2 - 9.81 * 1e-4 * 20 * 21 / 2)) < 1e-13, 'free fall');
  w.q = [1 2 3 2 0 0 0];
  expect(w.q == [1 2 3 1 0 0 0]', 'what is written is read back, the quaternion normalised');
  v = w.velocities;
  v(2, 1) = 4;
  w.velocities = v;
  expect(w.v(1) == 4, 'velocities are written');
  expect(strcmp(w.names, {'floor', 'ball'}), 'names');
  w = ball();
  w.step(200);
  c = w.contacts;
  expect(abs(sum(c(:, 12)) - 9.81 * 0.01) < 1e-9 && all(c(:, 1) == 1) && all(c(:, 2) == 2), 'contacts carry the weight');
end

function errors_have_the_sentence(command, ~)
  path = [tempname() '.yaml'];
  file = fopen(path, 'w');
  fputs(file, sprintf('moreau: 1\nbodies:\n  - { name: ball, shape: { spere: 0.5 } }\n'));
  fclose(file);
  [~, said] = system([command ' run ' path ' 2>&1']);
  try
    MoreauWorld(path);
    expect(false, 'an error');
  catch problem
    expect(strcmp(strtrim(said), ['moreau: ' problem.message]), 'the sentence of the command');
    expect(strcmp(problem.identifier, 'moreau:badInput'), 'the identifier');
  end
  delete(path);
  w = ball();
  for bad = {[1 2], nan(7, 1), zeros(7, 1)}
    try
      w.q = bad{1};
      expect(false, 'an error');
    catch problem
      expect(strcmp(problem.identifier, 'moreau:badInput'), 'bad numbers are refused');
    end
  end
end

function snapshots(~, scenes)
  w = MoreauWorld(scene(scenes, 'stack'));
  w.step(10);
  s = w.save();
  w.step(10);
  a = w.info;
  w.restore(s);
  w.step(10);
  b = w.info;
  expect(strcmp(a.state_hash, b.state_hash), 'a restored run has the same bits');
end

function forces(~, ~)
  w = ball();
  w.apply('ball', [0 0 9.81 0 0 0.1]);
  w.step(1);
  expect(abs(w.v(3)) < 1e-14 && abs(w.v(6) - 0.1 * 0.01 / (0.4 * 0.25)) < 1e-14, 'force and torque act for a step');
end

function p = frictionless(system)
  % the normal rows as an LCP, solved by Lemke
  rows = system.row;
  G = system.G(:, rows);
  A = G' * (system.M \ G);
  b = G' * system.nu_free + system.gap / system.h;
  p = zeros(size(system.G, 2), 1);
  p(rows) = moreau_solve('lcp', A, b, 'solver', 'lemke', 'tol', 1e-12);
end

function own_formulation(~, ~)
  w = ball();
  w.onSolve(@frictionless);
  w.step(200);
  expect(abs(w.q(3) - 0.5) < 1e-6 && norm(w.v) < 1e-6, 'a formulation written in Octave holds the ball');
end

function a_function_that_fails(~, ~)
  for f = {@(s) error('no idea'), @(s) [1 2]}
    w = ball();
    w.onSolve(f{1});
    try
      w.step(200);
      expect(false, 'an error');
    catch problem
      expect(~isempty(strfind(problem.message, 'no idea')) || ~isempty(strfind(problem.message, 'impulses')), ...
             ['its sentence, not ' problem.message]);
    end
  end
end

function problems_and_solvers(~, scenes)
  A = [2 1; 1 2];
  [z, r] = moreau_solve('lcp', A, [-1; -1], 'solver', 'lemke');
  expect(abs(z - 1 / 3) < 1e-12 && strcmp(r.status, 'solved'), 'an LCP');
  good = moreau_judge('lcp', A, [-1; -1], z);
  bad = moreau_judge('lcp', A, [-1; -1], [1; 1]);
  expect(good.error < 1e-12 && bad.error > 0.1, 'the judge');
  expect(abs(bad.natural - 1 / 2 * 2) < 1e-12, 'half the square of min(z, w), which is (1, 1)'); % w = (2, 2)
  z = moreau_solve('fc3d', eye(3), [-1; 0.3; 0], 'mu', 0.2, 'solver', 'nsgs', 'tol', 1e-12);
  expect(abs(z - [1; -0.2; 0]) < 1e-9, 'a sliding contact in closed form');
  w = MoreauWorld(scene(scenes, 'stack'));
  w.step(20);
  for y = w.systems
    s = y{1};
    nu = s.nu_free + s.M \ (s.G * s.impulses);
    expect(all(isfinite(nu)), 'systems have M, G and the answer');
  end
end

function closed_worlds(~, ~)
  w = ball();
  id = w.id;
  delete(w);
  for call = {@() moreau_mex('step', id, 1), @() moreau_mex('nothing'), @() moreau_mex('step', id), ...
              @() moreau_mex('get', -1, 'q'), @() moreau_mex('get', 1e30, 'q'), @() moreau_mex()}
    try
      call{1}();
      failed = false;
    catch
      failed = true;
    end
    expect(failed, 'wrong calls are errors');
  end
  moreau_mex('free', id);
end

function kilobytes = resident()
  kilobytes = str2double(regexp(fileread('/proc/self/status'), 'VmRSS:\s*(\d+)', 'tokens'){1}{1});
end

function many_worlds(~, ~)
  for k = 1:10000
    w = ball();
    w.step(1);
    delete(w);
    if k == 1000, before = resident(); end
  end
  expect(resident() - before < 20000, 'ten thousand worlds leave less than 20 MB'); % a world of a ball has about 60 kB
end

function hello_world_of_the_paper(~, ~)
  peg_in_hole_hello;
  expect(abs(sim.bodies(5).u - [0; 0; -0.295230]) < 1e-6, 'the peg falls through the hole');
  expect(abs(sim.bodies(5).nu(3) + 5.886) < 1e-9, 'its speed is that of free fall');
end

function sphere_drop(~, ~)
  ball = Body_sphere(1, 1);
  ball.u = [0; 0; 10];
  sim = sim_addBody(Simulator(0.01), [Body_plane([0; 0; 0], [0; 0; 1]), ball]);
  sim.MAX_STEP = 200;
  sim.H_dynamics = @LCPdynamics;
  sim.H_solver = @lemke;
  sim = sim_run(sim);
  expect(abs(sim.bodies(2).u(3) - 1) < 1e-9 && norm(sim.bodies(2).nu) < 1e-9, 'the final state of the original');
  expect(abs(sim.time - 2) < 1e-9 && ~isempty(sim.contacts) && sim.contacts(1).psi_n < 1e-9, 'time and contacts');
end

function sliding_block(~, ~)
  angle = 15 * pi / 180;
  q = [cos(angle / 2) sin(angle / 2) 0 0];
  ramp = mesh_rectangularBlock(1, 2, 0.1);
  ramp.dynamic = false;
  ramp.quat = q;
  ramp.mu = 1;
  block = mesh_rectangularBlock(0.1, 0.2, 0.05);
  n = [0; -sin(angle); cos(angle)];
  t = [0; cos(angle); sin(angle)];
  block.u = 0.5 * t + (0.05 + 0.025) * n;
  block.quat = q;
  sim = Simulator(0.01);
  sim.num_fricdirs = 8;
  sim.H_dynamics = @mLCPdynamics;
  sim.MAX_STEP = 50;
  start = block.u;
  sim = sim_run(sim_addBody(sim, [ramp, block]));
  a = 9.81 * (sin(angle) - 0.25 * cos(angle)); % mu of the pair: 0.5 * 1 * 0.5
  expect(abs(norm(sim.bodies(2).nu(1:3)) - a * 0.5) < 1e-6, 'it slides with g (sin - mu cos)');
  expect(abs(norm(sim.bodies(2).u - start) - a * 1e-4 * 50 * 51 / 2) < 1e-6, 'as far as the step says');
end

function sim = push(sim)
  sim.bodies(2).Fext = [2; 0; 0; 0; 0; 0];
  if sim.step == 6, sim.bodies(2).nu(1) = 0; end
  sim.userData.times(sim.step) = sim.time;
end

function user_function(~, ~)
  ball = Body_sphere(1, 0.5);
  ball.u = [0; 0; 5];
  sim = sim_addBody(Simulator(), [Body_plane([0; 0; 0], [0; 0; 1]), ball]);
  sim.gravity = false;
  sim.MAX_STEP = 10;
  sim.userFunction = @push;
  sim = sim_run(sim);
  expect(abs(sim.bodies(2).nu(1) - 2 * 0.01 * 5) < 1e-12, 'forces are held, velocities can be set');
  expect(abs(sim.userData.times(end) - 0.1) < 1e-12, 'time is that at the end of the step, as in the original');
end

function z = enumerate(A, b)
  % a solver of the user's: tries all active sets
  n = numel(b);
  for mask = 0:2 ^ n - 1
    on = find(bitand(mask, 2 .^ (0:n - 1)));
    z = zeros(n, 1);
    if rank(A(on, on)) < numel(on), continue, end
    z(on) = -A(on, on) \ b(on);
    if min(z) >= -1e-9 && min(A * z + b) >= -1e-9, return, end
  end
  error('no active set fits');
end

function own_solver(~, ~)
  states = cell(1, 2);
  solvers = {@enumerate, @lemke};
  for k = 1:2
    ball = Body_sphere(1, 0.5);
    ball.u = [0; 0; 0.55];
    ball.nu = [1; 0; 0; 0; 0; 0];
    sim = sim_addBody(Simulator(), [Body_plane([0; 0; 0], [0; 0; 1]), ball]);
    sim.num_fricdirs = 4;
    sim.H_dynamics = @LCPdynamics;
    sim.H_solver = solvers{k};
    sim.MAX_STEP = 30;
    sim = sim_run(sim);
    states{k} = [sim.bodies(2).u; sim.bodies(2).nu];
  end
  expect(abs(states{1} - states{2}) < 1e-6, 'a solver of the user''s gives the motion of the built-in one');
end

function hanging_rod(~, ~)
  post = mesh_cube();
  post.dynamic = false;
  rod = mesh_rectangularBlock(0.5, 0.02, 0.02);
  rod.u = [0.25; 0; 0];
  post.u = [0; 0; 0];
  sim = sim_addBody(Simulator(0.005), [post, rod]);
  sim = sim_addJoint(sim, 'spherical', 1, 2, [0; 0; 0], [0; 0; 1]);
  sim.MAX_STEP = 200;
  sim = sim_run(sim);
  expect(abs(norm(sim.bodies(2).u) - 0.25) < 2e-5, 'the joint does not drift as the original does');
end

function plots(~, ~)
  if isempty(available_graphics_toolkits())
    fprintf('SKIP plots: no graphics toolkit is installed\n');
    return
  end
  warning('off', 'all');
  figure('visible', 'off');
  ball = Body_sphere(1, 0.5);
  ball.u = [0; 0; 2];
  for f = {@plotEnergy, @plotPVA, @plotJointError}
    sim = sim_addBody(Simulator(), [Body_plane([0; 0; 0], [0; 0; 1]), ball]);
    sim.MAX_STEP = 20;
    sim.userFunction = f{1};
    sim = sim_run(sim);
  end
  close all
  e = [sim.userData.joint_error];
  expect(size(e, 1) == 20, 'a row per step is collected');
end

function bpmd(command, ~)
  place = tempname();
  mkdir(place);
  path = [place '/stack.h5'];
  system([command ' run stack --steps 4 --quiet --bpmd ' path]);
  frames = moreau_read_bpmd(path);
  expect(numel(frames) == 4 && isfield(frames(1).data, 'contacts'), 'frames of a BPMD file');
  answers = cell(1, 4);
  for k = 1:4
    p = moreau_bpmd_problem(frames(k));
    [answers{k}, report] = moreau_solve('fc3d', p.W, p.q, 'mu', p.mu, 'solver', 'nsn', 'tol', 1e-10);
    expect(strcmp(report.status, 'solved'), 'the problem is solved here');
    names = fieldnames(frames(k).data.solutions);
    stored = frames(k).data.solutions.(names{1});
    nu = p.nu_free + pinv(p.M) * (p.G * answers{k});
    moves = repmat(isfinite(frames(k).data.bodies.masses(:))', 6, 1);
    expect(abs(nu(moves(:)) - stored.velocities(moves(:))) < 1e-6, 'and has the velocities of the run');
  end
  moreau_write_answer([place '/good.txt'], 'my solver', {frames.name}, answers);
  moreau_write_answer([place '/bad.txt'], 'my solver', frames(2).name, 2 * answers{2});
  [failed, said] = system([command ' dataset answer ' path ' ' place '/good.txt ' place '/good.h5']);
  miss = sscanf(said(strfind(said, 'at most') + 8:end), '%g', 1);
  expect(~failed && miss < 1e-8 && ~isempty(strfind(said, 'answers to 4 frames')), ['the judge of the command agrees: ' said]);
  [failed, said] = system([command ' dataset answer ' path ' ' place '/bad.txt ' place '/bad.h5']);
  miss = sscanf(said(strfind(said, 'at most') + 8:end), '%g', 1);
  expect(~failed && miss > 1e-3, ['and sees a wrong answer: ' said]);
  back = moreau_read_bpmd([place '/good.h5']);
  found = back(3).data.solutions;
  names = fieldnames(found);
  expect(isequal(found.(names{1}).impulses(:), answers{3}(:)), 'the answer is in the file, bit for bit');
  file = fopen([place '/short.txt'], 'w');
  fprintf(file, 'solver x\nmbs_frame000001\n1 2 3\n');
  fclose(file);
  [status, said] = system([command ' dataset answer ' path ' ' place '/short.txt ' place '/short.h5 2>&1']);
  expect(status == 2 && ~isempty(strfind(said, 'contacts')) && ~exist([place '/short.h5'], 'file'), ['refused: ' said]);
  confirm_recursive_rmdir(false, 'local');
  rmdir(place, 's');
end

function r = arm(scenes)
  r = MoreauRobot([scenes '/robots/arm6.urdf'], 'floating', false);
end

function robots(~, scenes)
  r = arm(scenes);
  randn('twister', 5);
  s = randn(r.n, 1);
  nu = randn(r.dof, 1);
  f = randn(r.dof, 1);
  M = r.massMatrix(s);
  h = r.bias(s, nu);
  a = r.forwardDynamics(s, nu, f);
  expect(norm(M * a + h - f) < 1e-8 && norm(r.inverseDynamics(s, nu, a) - f) < 1e-8, 'the equation of motion');
  expect(norm(M - M') < 1e-12 && min(eig(M)) > 0, 'M is symmetric and positive');
  expect(abs(r.kineticEnergy(s, nu) - nu' * M * nu / 2) < 1e-10, 'kinetic energy');
  d = 1e-6;
  frame = r.frames{end};
  J = r.jacobian(frame, s);
  g = r.gravity(s);
  for j = 1:r.n
    e = zeros(r.n, 1);
    e(j) = d;
    difference = (r.framePose(frame, s + e) - r.framePose(frame, s - e)) / (2 * d);
    expect(abs(J(1:3, j) - difference(1:3)) < 1e-8, 'the Jacobian is the derivative of the pose');
    slope = (r.potentialEnergy(s + e) - r.potentialEnergy(s - e)) / (2 * d);
    expect(abs(g(j) - slope) < 1e-6, 'gravity is the derivative of the energy');
  end
  drift = (r.jacobian(frame, s + d * nu) - r.jacobian(frame, s - d * nu)) / (2 * d) * nu;
  expect(abs(r.jacobianDrift(frame, s, nu) - drift) < 1e-6 * (1 + norm(drift)), 'dJ/dt nu');
  c = (r.com(s + d * nu) - r.com(s - d * nu)) / (2 * d);
  p = r.momentum(s, nu);
  moving = r.mass; % the base of a fixed robot does not move, and weighs
  expect(abs(p(1:3) - moving * c) < 1e-6 * (1 + norm(p)), 'momentum is mass times the velocity of the centre of mass');
  expect(abs(r.bias(s, [], 'gravity', [0 0 0])) < 1e-12, 'nothing pulls without gravity');
  free = MoreauRobot([scenes '/robots/arm6.urdf']);
  base = [1; 2; 3; cos(0.4); sin(0.4); 0; 0];
  weight = free.gravity(s, 'base', base);
  expect(free.floating && free.dof == r.n + 6 && abs(weight(1:3) - [0; 0; 9.81 * free.mass]) < 1e-9, 'a floating base');
end

function robots_many_states(~, scenes)
  r = arm(scenes);
  randn('twister', 6);
  s = randn(r.n, 9);
  nu = randn(r.dof, 9);
  M = r.massMatrix(s);
  h = r.bias(s, nu);
  same = r.bias(s, nu(:, 1));
  expect(isequal(size(M), [r.dof r.dof 9]) && isequal(size(h), [r.dof 9]), 'a page or a column per state');
  for k = 1:9
    expect(isequal(M(:, :, k), r.massMatrix(s(:, k))) && isequal(h(:, k), r.bias(s(:, k), nu(:, k))), 'as one by one');
    expect(isequal(same(:, k), r.bias(s(:, k), nu(:, 1))), 'one column for all');
  end
end

function robots_refuse(~, scenes)
  r = arm(scenes);
  gone = MoreauRobot([scenes '/robots/arm6.urdf']);
  id = gone.id;
  delete(gone);
  zero = zeros(r.n, 1);
  for call = {@() r.massMatrix([1 2]), @() r.massMatrix([]), @() r.jacobian('nix', zero), @() r.bias(zero, [1 2]), ...
              @() r.bias(nan(r.n, 1)), @() r.bias(zero, [], 'gravity', [1 2]), @() r.bias(zero, [], 'gravty', [0 0 1]), ...
              @() r.massMatrix('abc'), @() r.massMatrix(zero, 'base', zeros(7, 1)), @() MoreauRobot('/nowhere.urdf'), ...
              @() MoreauRobot([scenes '/robots/arm6.urdf'], 'floatng', 1), @() moreau_mex('robot_info', id), ...
              @() moreau_mex('robot_info', -1), @() moreau_mex('robot_evaluate', r.id, 'mas', [], zero, [], [], '', [0 0 0])}
    try
      call{1}();
      failed = false;
    catch problem
      failed = strcmp(problem.identifier, 'moreau:badInput');
    end
    expect(failed, ['refused: ' func2str(call{1})]);
  end
  moreau_mex('robot_free', id);
end

function many_robots(~, scenes)
  for k = 1:2000
    r = arm(scenes);
    delete(r);
  end
end

function controllers_in_another_process(command, examples)
  % the simulator in the background, the example here and in a process of its own
  place = tempname();
  system(sprintf('%s run plate_arm --steps 50 --quiet --control unix:%s.sock >%s.log 2>&1 && echo well >>%s.log &', ...
                 command, place, place, place));
  link = MoreauLink([place '.sock'], 60);
  states = 0;
  while link.next()
    if states == 0, target = link.s; end
    states = states + 1;
    link.send(200 * (target - link.s) - 20 * link.nu(end - numel(link.s) + 1:end));
  end
  expect(states == 50 && numel(link.robots) == 1 && abs(link.s - target) < 0.1, 'a state per step');
  link.close();
  waited = 0;
  while isempty(strfind(fileread([place '.log']), 'well')) && waited < 600, pause(0.1); waited = waited + 1; end
  expect(~exist([place '.sock'], 'file') && waited < 600, 'the run ends well and removes its socket');
  if isempty(examples), return, end
  functions = fileparts(which('MoreauLink'));
  [failed, said] = system(sprintf(['%s run plate_arm --steps 20 --quiet --control unix:%s.two & ' ...
                                   'octave-cli --quiet --no-init-file --no-history --path %s %s/control/hold.m %s.two; ' ...
                                   'end=$?; wait; exit $end'], command, place, functions, examples, place));
  expect(~failed && ~isempty(strfind(said, 'held 1 robot(s)')), ['the example runs: ' said]);
  delete([place '.log']);
end

function nobody_there(~, ~)
  try
    MoreauLink([tempname() '.sock'], 0.1);
    expect(false, 'an error');
  catch problem
    expect(~isempty(strfind(problem.message, 'no simulator came')), problem.message);
  end
end

function scenes_by_name(~, ~)
  w = MoreauWorld('bounce');
  w.step(2);
  expect(abs(w.time - 2 * w.h) < 1e-12, 'the scene runs');
end
