function moreau_write_answer(path, solver, frames, impulses)
  % moreau_write_answer('answers.txt', 'my solver', {'mbs_frame000001', ...}, {z1, ...})
  %
  % Writes answers to frames of a BPMD file: for each its name and its impulses (normal and two tangents per contact, in the
  % order of the file) [N s]. The command puts them into a copy of the problems and says how good they are:
  %
  %   moreau dataset answer problems.h5 answers.txt judged.h5
  if ischar(frames), frames = {frames}; impulses = {impulses}; end
  if numel(frames) ~= numel(impulses), error('moreau:badInput', 'as many answers as frames are needed'); end
  file = fopen(path, 'w');
  if file < 0, error('moreau:system', '%s: cannot be written', path); end
  fprintf(file, 'solver %s\n', solver);
  for k = 1:numel(frames)
    fprintf(file, '%s\n', frames{k});
    fprintf(file, '%.17g %.17g %.17g\n', impulses{k});
  end
  if fclose(file) ~= 0, error('moreau:system', '%s: cannot be written', path); end
end
