function varargout = moreau_call(varargin)
  % moreau_call(COMMAND, ...)   moreau_mex with errors that begin with the sentence itself: Octave puts the name of the mex
  % file before it.
  try
    [varargout{1:nargout}] = moreau_mex(varargin{:});
  catch problem
    text = problem.message;
    if strncmp(text, 'moreau_mex: ', 12), text = text(13:end); end
    error(problem.identifier, '%s', text);
  end
end
