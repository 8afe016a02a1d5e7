function [answer, message] = moreau_guard(f, system)
  % [answer, message] = moreau_guard(f, system)   Calls a function of the user's for moreau_mex; message: what it raised.
  message = '';
  try
    answer = f(system);
  catch problem
    answer = [];
    message = problem.message;
    if isempty(message), message = 'the function failed'; end
  end
end
