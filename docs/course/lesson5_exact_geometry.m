% 5. Exact geometry: a peg and a hole. Text: lesson5_exact_geometry.ipynb
1;
function z = drop(formulation, size)
  scene.method = struct('formulation', formulation, 'collision', 'features');
  places = [-1 0 0; 1 0 0; 0 1 0; 0 -1 0];
  scene.bodies = {};
  for k = 1:4
    scene.bodies{k} = struct('name', sprintf('c%d', k), 'shape', struct('box', [1 1 1]), 'fixed', true, ...
                             'position', places(k, :));
  end
  scene.bodies{5} = struct('name', 'peg', 'shape', struct('box', size * [1 1 1]), 'mass', 1, 'position', [0 0 1.5]);
  w = MoreauWorld(scene);
  w.step(60);
  z = w.poses(5, 3);
end
fprintf('peg: %.6f m, st on the same contacts: %.6f m, free fall: %.6f m\n', drop('peg', 0.99999), drop('st', 0.99999), ...
        1.5 - 9.81e-4 * 60 * 61 / 2);
assert(abs(drop('peg', 0.99999) - (1.5 - 9.81e-4 * 60 * 61 / 2)) < 1e-9);
fprintf('a peg of 1.02 m rests at %.4f m\n', drop('peg', 1.02));
assert(abs(drop('peg', 1.02) - 1.01) < 1e-4);
