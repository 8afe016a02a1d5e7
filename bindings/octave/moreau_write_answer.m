function moreau_write_answer(path, frame, impulses, velocities)
  % moreau_write_answer('answers.mat', 'mbs_frame000001', impulses, velocities)
  %
  % Adds an answer to a file of answers, one variable per frame, in Octave's or MATLAB's own HDF5 format.
  answer = struct('impulses', impulses, 'velocities', velocities);
  data = struct();
  if exist(path, 'file'), data = load(path); end
  data.(frame) = answer;
  if exist('OCTAVE_VERSION', 'builtin'), save('-hdf5', path, '-struct', 'data');
  else, save(path, '-struct', 'data', '-v7.3'); end
end
