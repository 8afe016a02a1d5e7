% 6. Joints and constraint drift: a pendulum with four ways to keep its joint together. Text: lesson6_joints.ipynb
for name = {'none', 'baumgarte', 'projection', 'impulse'}
  clear scene
  scene.time.step = 0.005;
  scene.method = struct('stabilisation', name{1}, 'coordinates', 'maximal');
  scene.bodies = {struct('name', 'rod', 'shape', struct('box', [0.5 0.02 0.02]), 'mass', 1, 'position', [0.25 0 0])};
  scene.joints = {struct('name', 'pivot', 'type', 'revolute', 'bodies', {{'world', 'rod'}}, 'point', [0 0 0], ...
                         'axis', [0 1 0])};
  w = MoreauWorld(scene);
  worst = 0;
  for k = 1:400
    w.step(1);
    i = w.info;
    worst = max(worst, i.joint_error);
  end
  fprintf('%-10s largest joint error %.1e m, energy at the end %.4f J\n', name{1}, worst, i.kinetic + i.potential);
end
assert(worst < 2e-5);
