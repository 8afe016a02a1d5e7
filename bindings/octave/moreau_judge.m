function report = moreau_judge(form, A, b, z, varargin)
  % report = moreau_judge('lcp', A, b, z)
  % report = moreau_judge('fc3d', W, q, z, 'mu', mu)
  %
  % What the judge says of an answer of yours: report.error is the relative error (at most the tolerance: solved),
  % report.natural 1/2 |min(z, w)|^2.
  mu = [];
  if numel(varargin) == 2 && strcmp(varargin{1}, 'mu'), mu = varargin{2};
  elseif ~isempty(varargin), error('moreau:badInput', 'the only option is ''mu'', coefficients'); end
  report = moreau_call('judge', form, full(A), b(:), mu(:), z(:));
end
