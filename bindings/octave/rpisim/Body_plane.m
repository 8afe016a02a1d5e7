function body = Body_plane(point, normal)
  % body = Body_plane(point, normal)   A half-space below a plane; it does not move.
  body = Body();
  body.type = 'plane';
  body.dynamic = false;
  body.u = point(:);
  body.plane_normal = normal(:) / norm(normal);
end
