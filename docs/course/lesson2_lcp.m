% 2. LCP, Lemke, PGS by hand
%
% Many contacts at once give an LCP with many rows: w = A z + b, 0 <= z _|_ w >= 0. You solve one by trying all active sets,
% by projected Gauss-Seidel, and with the solvers of Moreau. The text in full: the notebook.
1;
addpath(fileparts(mfilename('fullpath')));

function z = all_sets(A, b)
  % in every row either z = 0 or w = 0: 2^n linear systems
  n = numel(b);
  for mask = 0:2 ^ n - 1
    on = find(bitand(mask, 2 .^ (0:n - 1)));
    z = zeros(n, 1);
    z(on) = -A(on, on) \ b(on);
    if min(z) >= -1e-12 && min(A * z + b) >= -1e-12, return, end
  end
  error('no active set fits');
end

function [z, errors] = sweeps_by_hand(A, b, count)
  % row after row: the z that makes w = 0, cut off at zero
  z = zeros(size(b));
  errors = zeros(1, count);
  for k = 1:count
    for i = 1:numel(b)
      z(i) = max(0, z(i) - (A(i, :) * z + b(i)) / A(i, i));
    end
    errors(k) = norm(min(z, A * z + b));
  end
end

rand('twister', 4);
n = 8;
B = rand(n) - 0.5;
A = B * B' + 0.5 * eye(n);
b = rand(n, 1) - 0.5;
exact = all_sets(A, b);
[z, errors] = sweeps_by_hand(A, b, 60);
fprintf('PGS by hand: error %.1e\n', errors(end));
assert(norm(z - exact) < 1e-6);
for name = {'lemke', 'pgs', 'fischer-newton', 'dantzig'}
  [z, r] = moreau_solve('lcp', A, b, 'solver', name{1}, 'tol', 1e-10);
  fprintf('%-15s %-8s %4d iterations, error %.1e\n', name{1}, r.status, r.iterations, r.error);
  assert(norm(z - exact) < 1e-6);
end

% how the error of Moreau's solvers falls: stop them after k iterations
found = nan(2, 60);
names = {'pgs', 'fischer-newton'};
for s = 1:2
  for k = 1:60
    [z, r] = moreau_solve('lcp', A, b, 'solver', names{s}, 'tol', 1e-15, 'max_iter', k);
    found(s, k) = max(1e-17, norm(min(z, A * z + b)));
  end
end
lesson_figure();
semilogy(1:60, errors, 'k--', 1:60, found(1, :), 'b-', 1:60, found(2, :), 'r-');
legend('PGS by hand', names{:});
xlabel('iteration');
ylabel('|min(z, w)|');
lesson_figure('lesson2');
% PGS is a straight line: linear convergence. Newton's method falls at once: quadratic.

% Exercises
% 1. What does PGS do when a diagonal entry of A is zero? (The rows of the friction pyramid are of this kind.)
% 2. How does the number of pivots of Lemke grow with n? Try n = 10, 20, 40.
% 3. Make A singular (B with fewer columns than rows). Which solvers still answer?

% Solutions
fprintf('1. it divides by zero: PGS in this form is not for the pyramid; see lesson 3\n');
for size_ = [10 20 40]
  C = rand(size_) - 0.5;
  [~, r] = moreau_solve('lcp', C * C' + eye(size_), rand(size_, 1) - 0.5, 'solver', 'lemke');
  fprintf('2. n = %2d: %d pivots\n', size_, r.iterations);
end
C = rand(8, 4) - 0.5;
for name = {'lemke', 'pgs', 'fischer-newton'}
  [~, r] = moreau_solve('lcp', C * C', C * (rand(4, 1) - 0.5), 'solver', name{1}, 'tol', 1e-8);
  fprintf('3. %-15s %s\n', name{1}, r.status);
end
