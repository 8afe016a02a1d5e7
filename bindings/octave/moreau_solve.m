function [z, report] = moreau_solve(form, A, b, varargin)
  % [z, report] = moreau_solve('lcp', A, b, 'solver', 'lemke', 'tol', 1e-10)
  % [z, report] = moreau_solve('fc3d', W, q, 'mu', mu, 'solver', 'nsgs')
  %
  % Solves a complementarity problem and judges the answer: report.status is 'solved' only if the judge says so;
  % report.error is the relative error, report.natural 1/2 |min(z, w)|^2.
  options = struct('mu', [], 'solver', 'auto', 'tol', 1e-8, 'max_iter', 0);
  for k = 1:2:numel(varargin)
    if ~isfield(options, varargin{k}), error('moreau:badInput', 'unknown option ''%s''', varargin{k}); end
    options.(varargin{k}) = varargin{k + 1};
  end
  [z, report] = moreau_call('solve', form, full(A), b(:), options.mu(:), options.solver, options.tol, options.max_iter);
end
