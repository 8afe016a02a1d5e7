function sim = collect(sim, name, row)
  % sim = collect(sim, name, row)   Appends a row to a table in sim.userData: for plot functions.
  if ~isfield(sim.userData, name), sim.userData.(name) = zeros(0, numel(row)); end
  sim.userData.(name)(end + 1, :) = row;
end
