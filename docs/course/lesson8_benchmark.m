% 8. A fair benchmark: the same problems, start, tolerance and judge for every solver. Text: lesson8_benchmark.ipynb
rand('twister', 1);
names = {'lemke', 'pgs', 'fischer-newton', 'dantzig'};
problems = cell(1, 6);
for k = 1:numel(problems)
  n = 10 * k;
  B = rand(n) - 0.5;
  problems{k} = {B * B' + 0.1 * eye(n), rand(n, 1) - 0.5};
end
times = inf(numel(problems), numel(names));
for repeat = 1:3                    % solvers take turns: a disturbance hits all of them
  for k = 1:numel(problems)
    for s = 1:numel(names)
      [~, r] = moreau_solve('lcp', problems{k}{:}, 'solver', names{s}, 'tol', 1e-8);
      if strcmp(r.status, 'solved'), times(k, s) = min(times(k, s), r.time); end
    end
  end
end
ratio = times ./ min(times, [], 2);
for s = 1:numel(names)
  fprintf('%-15s solved %d of %d, fastest on %d, within a factor of 10 on %d\n', names{s}, sum(isfinite(times(:, s))), ...
          numel(problems), sum(ratio(:, s) == 1), sum(ratio(:, s) <= 10));
end
assert(all(isfinite(times(:, 1))));
