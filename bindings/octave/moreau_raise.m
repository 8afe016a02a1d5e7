function moreau_raise(problem)
  % moreau_raise(problem)   Raises an error of moreau_mex again, with the sentence itself at its beginning: Octave puts the
  % name of the mex file before it.
  text = problem.message;
  if strncmp(text, 'moreau_mex: ', 12), text = text(13:end); end
  error(problem.identifier, '%s', text);
end
