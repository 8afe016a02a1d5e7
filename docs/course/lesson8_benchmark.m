% 8. A fair benchmark
%
% "Solver A takes 3 ms, solver B 5 ms" says nothing if A stops early. A fair comparison holds equal what is not compared: the
% same problems, start, measure of error and tolerance, and solvers that take turns on the machine. Then it shows how many
% problems each solves within a factor of the best: a performance profile (Dolan and More 2002). The text in full: the notebook.
1;
addpath(fileparts(mfilename('fullpath')));

function times = compare(problems, names, tol)
  times = inf(numel(problems), numel(names));
  for repeat = 1:3                    % solvers take turns: a disturbance hits all of them
    for k = 1:numel(problems)
      for s = 1:numel(names)
        [~, r] = moreau_solve('lcp', problems{k}{:}, 'solver', names{s}, 'tol', tol);
        if strcmp(r.status, 'solved'), times(k, s) = min(times(k, s), r.time); end
      end
    end
  end
end

rand('twister', 1);
names = {'lemke', 'pgs', 'fischer-newton', 'dantzig'};
problems = cell(1, 8);
for k = 1:numel(problems)
  n = 10 * k;
  B = rand(n) - 0.5;
  problems{k} = {B * B' + 0.1 * eye(n), rand(n, 1) - 0.5};
end
tolerances = [1e-4 1e-8];
styles = {'b-', 'r-', 'g-', 'k-'};
lesson_figure();
for i = 1:2
  times = compare(problems, names, tolerances(i));
  ratio = times ./ min(times, [], 2);
  fprintf('tolerance %g\n', tolerances(i));
  subplot(1, 2, i);
  hold on
  for s = 1:numel(names)
    solved = sort(ratio(isfinite(times(:, s)), s))';
    fprintf('  %-15s solved %d of %d, fastest on %d, within a factor of 10 on %d\n', names{s}, numel(solved), ...
            numel(problems), sum(solved == 1), sum(solved <= 10));
    stairs([solved, 1e3], [1:numel(solved), numel(solved)] / numel(problems), styles{s});
  end
  set(gca, 'xscale', 'log');
  title(sprintf('tolerance %g', tolerances(i)));
  xlabel('time / best time');
  assert(all(isfinite(times(:, 1))));
end
subplot(1, 2, 1);
ylabel('share of problems');
legend(names{:}, 'location', 'southeast');
lesson_figure('lesson8');

% Exercises
% 1. Give every solver only 20 iterations and compare the errors instead. Which would look best in a table of times alone?
% 2. Make the problems harder: 0.1 to 1e-6 on the diagonal. Who still solves them?
% 3. Run the command: moreau compare stack --out page.html, and read docs/fairness.md.

% Solutions
for s = 1:numel(names)
  [~, r] = moreau_solve('lcp', problems{end}{:}, 'solver', names{s}, 'tol', 1e-14, 'max_iter', 20);
  fprintf('1. %-15s error %.1e after %.2g s\n', names{s}, r.error, r.time);
end
for k = 1:numel(problems), problems{k}{1} = problems{k}{1} + (1e-6 - 0.1) * eye(10 * k); end
times = compare(problems, names, 1e-8);
for s = 1:numel(names)
  fprintf('2. %-15s solved %d of %d\n', names{s}, sum(isfinite(times(:, s))), numel(problems));
end
