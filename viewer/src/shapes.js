// Triangles, edges and bounds of the shapes of moreau/geometry.h, each in its own frame.
import * as THREE from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";

// Two shades in patches, so that one sees round things turn.
function patch(geometry, dark) {
  const g = geometry.index ? geometry.toNonIndexed() : geometry;
  const p = g.attributes.position, colors = new Float32Array(p.count * 3);
  for (let i = 0; i < p.count; i += 3) {
    const x = p.getX(i) + p.getX(i + 1) + p.getX(i + 2), y = p.getY(i) + p.getY(i + 1) + p.getY(i + 2), z = p.getZ(i) + p.getZ(i + 1) + p.getZ(i + 2);
    const shade = dark(x, y, z) ? 0.62 : 1;
    colors.fill(shade, 3 * i, 3 * i + 9);
  }
  g.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  return g;
}

function plain(geometry) {
  const g = geometry.index ? geometry.toNonIndexed() : geometry;
  g.setAttribute("color", new THREE.BufferAttribute(new Float32Array(g.attributes.position.count * 3).fill(1), 3));
  return g;
}

function fromTriangles(points) {
  const g = new THREE.BufferGeometry();
  g.setAttribute("position", new THREE.BufferAttribute(new Float32Array(points), 3));
  g.computeVertexNormals();
  return plain(g);
}

const at = (v, i) => [v[3 * i], v[3 * i + 1], v[3 * i + 2]];

// Edges are drawn where faces meet at an angle that one sees: the triangles of a round mesh have none.
const SHARP = Math.cos((20 * Math.PI) / 180);

function faceNormal(v, loop) {
  const n = new THREE.Vector3(), a = new THREE.Vector3(), b = new THREE.Vector3();
  for (let k = 0; k < loop.length; k++) n.add(a.set(...at(v, loop[k])).cross(b.set(...at(v, loop[(k + 1) % loop.length]))));
  return n.normalize();
}

function polyhedron(shape) {
  const v = shape.vertices ?? [], triangles = [], edges = [], beside = new Map();
  for (const loop of shape.faces ?? []) {
    const normal = faceNormal(v, loop);
    for (let k = 1; k + 1 < loop.length; k++) triangles.push(...at(v, loop[0]), ...at(v, loop[k]), ...at(v, loop[k + 1]));
    loop.forEach((a, k) => {
      const b = loop[(k + 1) % loop.length], key = a < b ? `${a},${b}` : `${b},${a}`;
      if (beside.has(key)) beside.get(key).push(normal);
      else beside.set(key, [a, b, normal]);
    });
  }
  for (const [a, b, ...normals] of beside.values())
    if (normals.length !== 2 || normals[0].dot(normals[1]) < SHARP) edges.push(...at(v, a), ...at(v, b));
  return { geometry: fromTriangles(triangles), edges, points: v };
}

function circle(radius, n, z = 0) {
  const edges = [];
  for (let i = 0; i < n; i++) {
    const a = (2 * Math.PI * i) / n, b = (2 * Math.PI * (i + 1)) / n;
    edges.push(radius * Math.cos(a), radius * Math.sin(a), z, radius * Math.cos(b), radius * Math.sin(b), z);
  }
  return edges;
}

function polygon(shape) {
  const v = shape.vertices ?? [], n = v.length / 3, triangles = [], edges = [];
  for (let k = 1; k + 1 < n; k++) triangles.push(...at(v, 0), ...at(v, k), ...at(v, k + 1));
  for (let k = 0; k < n; k++) edges.push(...at(v, k), ...at(v, (k + 1) % n));
  return { geometry: fromTriangles(triangles), edges, points: v };
}

// The solid side of a chain is on the right when it is walked in order: a band with hatching there.
function chain(shape, depth) {
  const v = shape.vertices ?? [], n = v.length / 3, triangles = [], edges = [];
  for (let k = 0; k + 1 < n; k++) {
    const [ax, ay] = at(v, k), [bx, by] = at(v, k + 1), length = Math.hypot(bx - ax, by - ay) || 1;
    const tx = (bx - ax) / length, ty = (by - ay) / length, nx = ty * depth, ny = -tx * depth;
    triangles.push(ax, ay, 0, ax + nx, ay + ny, 0, bx + nx, by + ny, 0, ax, ay, 0, bx + nx, by + ny, 0, bx, by, 0);
    edges.push(ax, ay, 0, bx, by, 0);
    for (let s = depth / 2, pitch = Math.max(depth, length / 400); s < length; s += pitch) edges.push(ax + tx * s, ay + ty * s, 0, ax + tx * (s - depth / 2) + nx, ay + ty * (s - depth / 2) + ny, 0);
  }
  return { geometry: fromTriangles(triangles), edges, points: v };
}

function corners(x, y, z0, z1) {
  const points = [];
  for (const a of [-x, x]) for (const b of [-y, y]) for (const c of [z0, z1]) points.push(a, b, c);
  return points;
}

const axis = (g) => g.rotateX(Math.PI / 2); // three.js has axes along y, we along z

// { geometry, edges: [x y z ...] in pairs, points for bounds, round: radius for bounds }. `extent` is the size of the scene.
export function makeShape(shape, extent, fine) {
  const [r, l] = shape.size, n = fine ? 40 : 16;
  switch (shape.kind) {
    case "sphere":
      return { geometry: patch(new THREE.SphereGeometry(r, n, n / 2), (x, y, z) => x * y * z > 0), edges: [], round: r };
    case "ellipsoid": {
      const [a, b, c] = shape.size;
      return { geometry: patch(new THREE.SphereGeometry(1, n, n / 2).scale(a, b, c), (x, y, z) => x * y * z > 0), edges: [], points: corners(a, b, -c, c) };
    }
    case "capsule":
      return { geometry: patch(axis(new THREE.CapsuleGeometry(r, l, n / 4, n)), (x, y, z) => x * y * z > 0), edges: [], points: corners(r, r, -l / 2 - r, l / 2 + r) };
    case "cylinder":
      return {
        geometry: patch(axis(new THREE.CylinderGeometry(r, r, l, n)), (x, y) => x * y > 0),
        edges: fine ? [...circle(r, 48, l / 2), ...circle(r, 48, -l / 2)] : [],
        points: corners(r, r, -l / 2, l / 2),
      };
    case "cone":
      return {
        geometry: patch(axis(new THREE.ConeGeometry(r, l, n)).translate(0, 0, l / 4), (x, y) => x * y > 0),
        edges: fine ? circle(r, 48, -l / 4) : [],
        points: corners(r, r, -l / 4, (3 * l) / 4),
      };
    case "plane":
      return { geometry: plain(new THREE.PlaneGeometry(60 * extent, 60 * extent)), edges: [], points: [], unbounded: true };
    case "polyhedron":
      return polyhedron(shape);
    case "disc":
      return { geometry: plain(new THREE.CircleGeometry(r, 48)), edges: [...circle(r, 48), 0, 0, 0, r, 0, 0], round: r };
    case "particle":
      return { geometry: plain(new THREE.CircleGeometry(0.012 * extent, 24)), edges: [], points: [0, 0, 0] };
    case "polygon":
      return polygon(shape);
    case "chain":
      return chain(shape, 0.03 * extent);
    default: {
      const radius = Number.isFinite(shape.radius) && shape.radius > 0 ? shape.radius : 0.05 * extent;
      return { geometry: plain(new THREE.IcosahedronGeometry(radius, 2)), edges: [], round: radius };
    }
  }
}

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

const MOST_CREASED = 20000; // triangles of a visual; finding the edges of more takes too long

// The visuals of the description, equal ones sharing their triangles; normals are not shared where faces meet at an angle
// that one sees.
export function makeVisuals(visuals) {
  const made = [];
  for (const v of visuals) {
    if (v.like !== undefined) {
      made.push(made[v.like]);
      continue;
    }
    const g = new THREE.BufferGeometry(), points = new Float32Array(bytes(v.points)), corners = new Uint32Array(bytes(v.triangles));
    g.setAttribute("position", new THREE.BufferAttribute(points, 3));
    if (v.spots) g.setAttribute("uv", new THREE.BufferAttribute(new Float32Array(bytes(v.spots)), 2));
    g.setIndex(new THREE.BufferAttribute(corners, 1));
    const flat = corners.length > 3 * MOST_CREASED ? g.toNonIndexed() : toCreasedNormals(g, Math.PI / 5);
    if (!flat.attributes.normal) flat.computeVertexNormals();
    made.push({ geometry: plain(flat), edges: [], points });
  }
  return made;
}

// Bounds of a visual in its own frame, computed once.
export function visualBox(visuals, v) {
  const own = v.like === undefined ? v : visuals[v.like];
  own.box ??= new THREE.Box3().setFromArray(new Float32Array(bytes(own.points)));
  return own.box;
}

// Its diagonal.
export const visualSize = (visuals, v) => visualBox(visuals, v).getSize(new THREE.Vector3()).length();

export const isFlat = (kind) => kind === "disc" || kind === "particle" || kind === "polygon" || kind === "chain";
