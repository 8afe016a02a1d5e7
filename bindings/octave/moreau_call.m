function varargout = moreau_call(varargin)
  % moreau_call(COMMAND, ...)   moreau_mex with errors that begin with the sentence itself (moreau_raise).
  try
    [varargout{1:nargout}] = moreau_mex(varargin{:});
  catch problem
    moreau_raise(problem);
  end
end
