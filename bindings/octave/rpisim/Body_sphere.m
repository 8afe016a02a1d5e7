function body = Body_sphere(mass, radius)
  % body = Body_sphere(mass, radius)   [kg], [m]. As in the original the mass stays 1 kg and only J knows the argument: set
  % body.mass yourself.
  body = Body();
  body.type = 'sphere';
  body.radius = radius;
  body.J = 0.4 * mass * radius ^ 2 * eye(3);
end
