% 2. LCP, Lemke, PGS by hand. Text: lesson2_lcp.ipynb
rand('twister', 4);
n = 8;
B = rand(n) - 0.5;
A = B * B' + 0.5 * eye(n);
b = rand(n, 1) - 0.5;
for mask = 0:2 ^ n - 1             % all active sets
  on = find(bitand(mask, 2 .^ (0:n - 1)));
  z = zeros(n, 1);
  z(on) = -A(on, on) \ b(on);
  if min(z) >= -1e-12 && min(A * z + b) >= -1e-12, exact = z; break, end
end
z = zeros(n, 1);
for sweep = 1:200                  % projected Gauss-Seidel
  for i = 1:n
    z(i) = max(0, z(i) - (A(i, :) * z + b(i)) / A(i, i));
  end
end
fprintf('PGS by hand: error %.1e\n', norm(min(z, A * z + b)));
assert(norm(z - exact) < 1e-6);
for name = {'lemke', 'pgs', 'fischer-newton', 'dantzig'}
  [z, r] = moreau_solve('lcp', A, b, 'solver', name{1}, 'tol', 1e-10);
  fprintf('%-15s %-8s %4d iterations, error %.1e\n', name{1}, r.status, r.iterations, r.error);
  assert(norm(z - exact) < 1e-6);
end
