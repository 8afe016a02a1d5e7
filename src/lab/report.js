// The report of a comparison as an instrument. All data is in the element #data of the page; nothing is loaded.
// Without this script the tables and charts of the page are still there.
(() => {
  "use strict";
  const $ = (s, e = document) => e.querySelector(s), $$ = (s, e = document) => [...e.querySelectorAll(s)];
  const D = JSON.parse($("#data").textContent);
  const NS = new DOMParser().parseFromString("<svg></svg>", "text/html").body.firstChild.namespaceURI;
  const make = (node, attributes, kids) => {
    for (const k in attributes) if (k.startsWith("on")) node[k] = attributes[k]; else node.setAttribute(k, attributes[k]);
    node.append(...kids);
    return node;
  };
  const el = (t, a = {}, ...kids) => make(document.createElement(t), a, kids);
  const sv = (t, a = {}, ...kids) => make(document.createElementNS(NS, t), a, kids);
  const P = { name: 0, family: 1, rows: 2, contacts: 3, dof: 4, deficiency: 5, condition: 6, mass: 7, by: 8, stored: 9, file: 10, frame: 11 };
  const R = { p: 0, f: 1, s: 2, t: 3, status: 4, iterations: 5, time: 6, total: 7, error: 8, natural: 9, fb: 10, cck: 11, normal: 12, friction: 13, detail: 14, user: 15 };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (s) => { const c = D.colours[s % D.colours.length]; return dark.matches && c === "#262626" ? "#e8ecf1" : c; }, dash = (s) => D.dashes[(s + 2 * Math.floor(s / D.colours.length)) % D.dashes.length]; // as page_chart.c
  const short = (v) => (v === null || v === undefined ? "–" : Math.abs(v) >= 0.01 && Math.abs(v) < 1e4 ? String(+v.toPrecision(3)) : v.toExponential(1));

  // ------------------------------------------------------------------------------------------ tables
  const key = (c) => (c.dataset.v !== undefined ? +c.dataset.v : c.textContent);
  const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const mark = (t, th, d) => {
    for (const h of $$("th", t)) h.classList.remove("up", "down"), h.removeAttribute("aria-sort");
    th.classList.add(d > 0 ? "up" : "down");
    th.setAttribute("aria-sort", d > 0 ? "ascending" : "descending");
  };
  const clickable = (node, act) => {
    node.tabIndex = 0;
    node.onclick = act;
    node.onkeydown = (e) => (e.key === "Enter" || e.key === " ") && (e.preventDefault(), act(e));
  };
  const sortable = (t) => $$("th", t).forEach((th, i) => clickable(th, () => {
    const d = th.classList.contains("up") ? -1 : 1, b = t.tBodies[0];
    [...b.rows].sort((x, y) => d * order(key(x.cells[i]), key(y.cells[i]))).forEach((r) => b.append(r));
    mark(t, th, d);
  }));
  $$("table.sort").forEach(sortable);

  const rt = $("#runs-table"), filter = $("#filter"), most = 400;
  const cells = (r) => {
    const row = [D.problems[r[R.p]][P.name], D.forms[r[R.f]], D.solvers[r[R.s]], D.tols[r[R.t]], D.status[r[R.status]], ...r.slice(R.iterations, R.detail)];
    if (D.user) row.push(r[R.user]);
    row.push(D.details[r[R.detail]]);
    return row;
  };
  let table = null, shown = D.runs;
  function showRuns() {
    const words = filter.value.toLowerCase().split(/\s+/).filter((x) => x);
    table ??= words.length ? new Map(D.runs.map((r) => [r, cells(r).join(" ").toLowerCase()])) : null;
    const hit = words.length ? shown.filter((r) => words.every((x) => table.get(r).includes(x))) : shown;
    rt.tBodies[0].replaceChildren(...hit.slice(0, most).map((r) => el("tr", {}, ...cells(r).map((v, i) => {
      const number = typeof v === "number" || v === null;
      return el("td", number ? { class: "n" } : {}, v === null ? "–" : number && i > 5 ? v.toExponential(2) : String(v));
    }))));
    $("#count").textContent = `${hit.length} of ${D.runs.length}${hit.length > most ? `, the first ${most} shown` : ""}`;
  }
  $$("th", rt).forEach((th, i) => clickable(th, () => {
    const d = th.classList.contains("up") ? -1 : 1, of = (r) => { const v = cells(r)[i]; return v === null ? 1e300 : v; };
    shown = D.runs.map((r) => [of(r), r]).sort((x, y) => d * order(x[0], y[0])).map((x) => x[1]);
    mark(rt, th, d);
    showRuns();
  }));
  filter.oninput = showRuns;

  // ------------------------------------------------------------------------------------------ hints, files
  const hint = el("div", { id: "hint", role: "status" });
  document.body.append(hint);
  const tell = (e, text) => {
    hint.textContent = text;
    hint.style.display = text ? "block" : "none";
    if (text) hint.style.left = `${Math.min(e.pageX + 12, scrollX + innerWidth - 260)}px`, hint.style.top = `${e.pageY + 14}px`;
  };
  const save = (name, rows) => {
    const text = rows.map((r) => r.map((v) => (typeof v === "string" && /[",\n]/.test(v) ? `"${v.replaceAll('"', '""')}"` : v ?? "")).join(",")).join("\n") + "\n";
    const a = el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: `${name.replace(/[^a-z0-9]+/gi, "-")}.csv` });
    window.moreauReport.csv = text;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  };
  const csvButton = (name, rows) => el("button", { class: "csv", type: "button", title: `numbers of: ${name}`, onclick: () => save(name, rows()) }, "CSV");

  // ------------------------------------------------------------------------------------------ state
  const present = new Set(D.runs.filter((r) => r[R.s] > 0).map((r) => r[R.f]));
  const S = { f: [...present].sort((a, b) => a - b)[0] ?? 1, t: D.tols.length - 1, y: "error", group: "", family: "", selected: null, hidden: new Set(), problem: -1, other: null, viewer: false, turn: [0.6, 0.35] };
  const at = new Map(), code = (p, f, s, t) => ((p * 80 + f) * 80 + s) * 5 + t;
  D.runs.forEach((r) => at.set(code(r[0], r[1], r[2], r[3]), r));
  const groups = { "": "all sizes", small: "up to 60 rows", medium: "61 to 600 rows", large: "over 600 rows", stiff: "mass ratio 1000 and more", redundant: "redundant contacts (W singular)", full: "W of full rank" };
  const inGroup = { "": () => true, small: (p) => p[2] <= 60, medium: (p) => p[2] > 60 && p[2] <= 600, large: (p) => p[2] > 600, stiff: (p) => p[7] >= 1e3, redundant: (p) => p[5] > 0, full: (p) => p[5] === 0 };
  const chosen = () => D.problems.map((_, i) => i).filter((i) => {
    const p = D.problems[i];
    return inGroup[S.group](p) && (!S.family || p[P.family] === S.family) && (!S.selected || S.selected.has(i)) && D.solvers.some((_, s) => s && at.has(code(i, S.f, s, S.t)));
  });

  // ratios of every solver on these problems; Infinity: not solved
  function ratios(problems, find, solvers) {
    const times = solvers.map((s) => problems.map((p) => { const r = find(p, s); return r && r[R.status] === 0 ? Math.max(r[R.total], 1e-9) : Infinity; }));
    const best = problems.map((_, i) => Math.min(...times.map((t) => t[i])));
    return times.map((t) => t.map((v, i) => v / best[i]).map((v) => (Number.isNaN(v) ? Infinity : v)));
  }
  let random = 1;
  const draw = (n) => (random = (Math.imul(random, 1664525) + 1013904223) >>> 0, Math.floor((random / 4294967296) * n));
  // 95 % bands of rho at the given multiples, by bootstrap over the problems
  function bands(rho, taus) {
    const n = rho[0]?.length ?? 0, B = 200, all = rho.map(() => taus.map(() => new Float64Array(B)));
    random = 1;
    for (let b = 0; b < B && n; b++) {
      const pick = Array.from({ length: n }, () => draw(n));
      rho.forEach((r, s) => {
        const sorted = Float64Array.from(pick, (i) => r[i]).sort();
        let k = 0;
        taus.forEach((tau, j) => { while (k < n && sorted[k] <= tau * (1 + 1e-12)) k++; all[s][j][b] = k / n; });
      });
    }
    return all.map((rows) => rows.map((v) => (v.sort(), [v[Math.floor(0.025 * B)], v[Math.ceil(0.975 * B) - 1]])));
  }

  // ------------------------------------------------------------------------------------------ charts
  const W = 470, H = 290, box = { left: 48, top: 24, width: 300, height: 210 };
  const decade = (v) => (v >= -2 && v <= 3 ? String(+(10 ** v).toPrecision(3)) : `1e${v}`);
  function frame(title, xlabel, ylabel, x, y) {
    const svg = sv("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": title });
    const X = (v) => box.left + ((v - x[0]) / (x[1] - x[0])) * box.width, Y = (v) => box.top + box.height - ((v - y[0]) / (y[1] - y[0])) * box.height;
    const steps = (r) => { const n = Math.max(1, Math.ceil((r[1] - r[0]) / 6)); return Array.from({ length: Math.floor((r[1] - r[0]) / n + 1e-9) + 1 }, (_, i) => r[0] + i * n); };
    for (const v of x[2] ?? steps(x)) svg.append(sv("line", { class: "grid", x1: X(v), x2: X(v), y1: box.top, y2: box.top + box.height }), sv("text", { class: "tick", x: X(v), y: box.top + box.height + 14, "text-anchor": "middle" }, x[3] ? String(v) : decade(v)));
    for (const v of y[2] ?? steps(y)) svg.append(sv("line", { class: "grid", x1: box.left, x2: box.left + box.width, y1: Y(v), y2: Y(v) }), sv("text", { class: "tick", x: box.left - 5, y: Y(v) + 3.5, "text-anchor": "end" }, y[3] ? String(v) : decade(v)));
    svg.append(sv("path", { class: "box", d: `M${box.left} ${box.top}v${box.height}h${box.width}` }), sv("text", { class: "title", x: box.left, y: 14 }, title), sv("text", { class: "label", x: box.left + box.width / 2, y: box.top + box.height + 32, "text-anchor": "middle" }, xlabel), sv("text", { class: "label", transform: `translate(11 ${box.top + box.height / 2}) rotate(-90)`, "text-anchor": "middle" }, ylabel));
    return { svg, X, Y };
  }
  function legend(c, solvers, note) {
    solvers.forEach((s, i) => {
      const y = box.top + 4 + 14 * i, g = sv("g", { class: "key" + (S.hidden.has(s) ? " off" : ""), "data-s": s, role: "button", "aria-pressed": !S.hidden.has(s), "aria-label": `${D.solvers[s]}: show or hide` });
      g.append(sv("rect", { x: box.left + box.width + 8, y: y - 7, width: 112, height: 14, fill: "#fff", "fill-opacity": 0 }), sv("line", { x1: box.left + box.width + 10, x2: box.left + box.width + 32, y1: y, y2: y, stroke: colour(s - 1), "stroke-width": 2, "stroke-dasharray": dash(s - 1) }), sv("text", { class: "tick", x: box.left + box.width + 37, y: y + 3.5 }, D.solvers[s] + (note ? note(s) : "")));
      clickable(g, () => toggle(s));
      g.onmouseenter = () => (c.svg.classList.add("pick"), $$(`.c${s - 1}`, c.svg).forEach((e) => e.classList.add("on")));
      g.onmouseleave = () => (c.svg.classList.remove("pick"), $$(".on", c.svg).forEach((e) => e.classList.remove("on")));
      c.svg.append(g);
    });
  }
  function curve(c, s, d, width, title, act) {
    const line = sv("path", { class: `s c${s - 1}`, d, fill: "none", stroke: colour(s - 1), "stroke-width": width, "stroke-dasharray": dash(s - 1) });
    const wide = sv("path", { class: "near", d, fill: "none", stroke: "#000", "stroke-opacity": 0, "stroke-width": 9 });
    wide.onmousemove = (e) => (c.svg.classList.add("pick"), line.classList.add("on"), tell(e, title(e)));
    wide.onmouseleave = () => (c.svg.classList.remove("pick"), line.classList.remove("on"), tell(null, ""));
    if (act) wide.onclick = act;
    c.svg.append(line, wide);
  }
  const place = (e, svg) => { const r = svg.getBoundingClientRect(); return { x: ((e.clientX - r.left) / r.width) * W, y: ((e.clientY - r.top) / r.height) * H }; };
  const panel = (node, name, rows) => el("figure", {}, node, csvButton(name, rows));
  const nothing = (why) => el("p", { class: "dim why" }, why);

  function drawProfile() {
    const problems = chosen(), find = (p, s) => at.get(code(p, S.f, s, S.t));
    const solvers = D.solvers.map((_, s) => s).filter((s) => s && problems.some((p) => find(p, s)));
    if (!problems.length) return nothing("No problem is selected: clear the selection or choose another class.");
    const rho = ratios(problems, find, solvers), c = frame(`performance profile, ${D.forms[S.f]} at ${D.tols[S.t]}, ${problems.length} problems`, "time allowed, as a multiple of the best solver's", "fraction of problems solved", [0, 3], [0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1], true]);
    const taus = Array.from({ length: 61 }, (_, i) => 10 ** (i / 20)), n = problems.length;
    const step = (r) => { // of the sorted ratios
      const v = r.filter((x) => x < Infinity).sort((a, b) => a - b);
      let d = `M${c.X(0)} ${c.Y(v.filter((x) => x <= 1 + 1e-12).length / n).toFixed(1)}`;
      v.forEach((x, i) => { if (x > 1 + 1e-12 && x <= 1000) d += `H${c.X(Math.log10(x)).toFixed(1)}V${c.Y((i + 1) / n).toFixed(1)}`; });
      return d + `H${c.X(3)}`;
    };
    const band = $("#bands")?.checked !== false && n > 1 && solvers.length * n < 20000 ? bands(rho, [...taus, 1e300]) : null;
    if (band) solvers.forEach((s, k) => !S.hidden.has(s) && c.svg.append(sv("path", { class: "band", fill: colour(s - 1), d: "M" + taus.map((t, j) => `${c.X(Math.log10(t)).toFixed(1)} ${c.Y(band[k][j][1]).toFixed(1)}`).join("L") + "L" + taus.map((t, j) => `${c.X(Math.log10(t)).toFixed(1)} ${c.Y(band[k][j][0]).toFixed(1)}`).reverse().join("L") + "Z" })));
    if (S.other) {
      const O = S.other, names = new Map(O.D.problems.map((p, i) => [p[0], i])), common = problems.filter((p) => names.has(D.problems[p][0]));
      const f = O.D.forms.indexOf(D.forms[S.f]), t = O.D.tols.indexOf(D.tols[S.t]);
      const seen = solvers.filter((s) => O.D.solvers.includes(D.solvers[s]));
      const old = ratios(common, (p, s) => O.at.get(code(names.get(D.problems[p][0]), f, O.D.solvers.indexOf(D.solvers[s]), t)), seen);
      const m = common.length;
      seen.forEach((s, k) => {
        if (S.hidden.has(s) || !m) return;
        const v = old[k].filter((x) => x < Infinity).sort((a, b) => a - b);
        c.svg.append(sv("path", { class: "before", fill: "none", stroke: colour(s - 1), d: `M${c.X(0)} ${c.Y(v.filter((x) => x <= 1).length / m)}` + v.filter((x) => x > 1 && x <= 1000).map((x, i, l) => `H${c.X(Math.log10(x)).toFixed(1)}V${c.Y((v.length - l.length + i + 1) / m).toFixed(1)}`).join("") + `H${c.X(3)}` }));
      });
    }
    solvers.forEach((s, k) => {
      if (S.hidden.has(s)) return;
      const value = (tau) => rho[k].filter((x) => x <= tau * (1 + 1e-12)).length / n;
      const tau = (e) => 10 ** (((place(e, c.svg).x - box.left) / box.width) * 3);
      curve(c, s, step(rho[k]), 1.6, (e) => `${D.solvers[s]}: ${(100 * value(tau(e))).toFixed(0)} % within ${short(tau(e))} × the best; click: the problem nearest to this point`, (e) => {
        let best = -1;
        rho[k].forEach((x, i) => { if (x < Infinity && (best < 0 || Math.abs(Math.log(x / tau(e))) < Math.abs(Math.log(rho[k][best] / tau(e))))) best = i; });
        if (best >= 0) open(problems[best]);
      });
    });
    legend(c, solvers);
    const ends = solvers.map((s, k) => ({ s, solved: rho[k].filter((x) => x < Infinity).length, fast: rho[k].filter((x) => x <= 1 + 1e-12).length, last: band?.[k] }));
    // how sure the order is: solved of all and how often fastest, with intervals of the same bootstrap
    const sure = el("table", { class: "sort", id: "sure" }, el("thead", {}, el("tr", {}, ...["solver", "solved", "95 % interval", "fastest", "95 % interval"].map((h) => el("th", {}, h)))), el("tbody", {}, ...ends.map(({ s, solved, fast, last }) => {
      const cell = (v, text) => el("td", { class: "n", "data-v": v }, text), interval = (b) => (b ? `${(100 * b[0]).toFixed(0)} to ${(100 * b[1]).toFixed(0)} %` : "–");
      return el("tr", {}, el("td", {}, D.solvers[s]), cell(solved / n, `${((100 * solved) / n).toFixed(0)} %`), cell(last ? last[61][0] : 0, interval(last?.[61])), cell(fast / n, `${((100 * fast) / n).toFixed(0)} %`), cell(last ? last[0][0] : 0, interval(last?.[0])));
    })));
    sortable(sure);
    return [panel(c.svg, "performance profile", () => [["tau", ...solvers.map((s) => D.solvers[s])], ...taus.map((t) => [t, ...rho.map((r) => r.filter((x) => x <= t * (1 + 1e-12)).length / n)])]), el("div", { class: "side" }, sure)];
  }

  const measures = { error: "error (of the tolerance)", normal: "normal error", friction: "friction error", fb: "FB total error", cck: "CCK total error", total: "time [s]", iterations: "iterations" };
  let points = [];
  function drawScatter() {
    const use = D.problems.map((_, i) => i).filter((i) => inGroup[S.group](D.problems[i]) && (!S.family || D.problems[i][P.family] === S.family)), inside = new Set(use), m = R[S.y];
    points = [];
    for (const r of D.runs) if (r[R.f] === S.f && r[R.t] === S.t && r[R.s] && inside.has(r[R.p]) && !S.hidden.has(r[R.s]) && r[m] !== null && D.problems[r[R.p]][P.rows] > 0) points.push({ r, x: Math.log10(D.problems[r[R.p]][P.rows]), y: Math.log10(Math.max(r[m], 1e-18)) });
    if (!points.length) return nothing(`No run has a ${measures[S.y]} here: ${S.y === "normal" || S.y === "friction" ? "the form of these problems does not tell contacts from other rows." : "choose another formulation or show a solver."}`);
    const span = (v) => { let a = Infinity, b = -Infinity; for (const x of v) a = Math.min(a, x), b = Math.max(b, x); return [Math.floor(a), Math.max(Math.ceil(b), Math.floor(a) + 1)]; };
    const xs = span(points.map((p) => p.x)), ys = span(points.map((p) => p.y));
    const c = frame(`${measures[S.y].slice(0, 34)} over size`, "rows: drag to select problems", measures[S.y], xs, ys);
    const canvas = el("canvas", { width: 2 * W, height: 2 * H, class: "dots", "aria-hidden": "true" }), g = canvas.getContext("2d");
    g.scale(2, 2);
    for (const p of points) {
      const on = !S.selected || S.selected.has(p.r[R.p]), s = p.r[R.s];
      p.px = c.X(p.x), p.py = c.Y(p.y);
      g.globalAlpha = on ? 0.75 : 0.12;
      g.strokeStyle = g.fillStyle = colour(s - 1);
      g.beginPath();
      if (p.r[R.status] === 0) g.arc(p.px, p.py, 2, 0, 7), g.fill();
      else g.moveTo(p.px - 3, p.py - 3), g.lineTo(p.px + 3, p.py + 3), g.moveTo(p.px + 3, p.py - 3), g.lineTo(p.px - 3, p.py + 3), g.stroke();
    }
    let from = null;
    const brush = sv("rect", { class: "brush", x: 0, y: 0, width: 0, height: 0 }), cover = sv("rect", { class: "cover", x: box.left, y: box.top, width: box.width, height: box.height, fill: "#000", "fill-opacity": 0 });
    c.svg.append(brush, cover);
    const nearest = (q) => { let best = null, d = 80; for (const p of points) { const e = (p.px - q.x) ** 2 + (p.py - q.y) ** 2; if (e < d) d = e, best = p; } return best; };
    cover.onpointerdown = (e) => (from = place(e, c.svg), cover.setPointerCapture(e.pointerId));
    cover.onpointermove = (e) => {
      const q = place(e, c.svg);
      if (!from) {
        const p = nearest(q);
        return tell(e, p ? `${D.solvers[p.r[R.s]]} on ${D.problems[p.r[R.p]][P.name]}: ${short(p.r[m])}, ${D.status[p.r[R.status]]}` : "");
      }
      for (const [k, v] of Object.entries({ x: Math.min(from.x, q.x), y: Math.min(from.y, q.y), width: Math.abs(from.x - q.x), height: Math.abs(from.y - q.y) })) brush.setAttribute(k, v);
    };
    cover.onpointerup = (e) => {
      const q = place(e, c.svg), a = from;
      from = null;
      if (Math.hypot(q.x - a.x, q.y - a.y) < 4) { const p = nearest(q); if (p) open(p.r[R.p]); return; }
      S.selected = new Set(points.filter((p) => p.px >= Math.min(a.x, q.x) && p.px <= Math.max(a.x, q.x) && p.py >= Math.min(a.y, q.y) && p.py <= Math.max(a.y, q.y)).map((p) => p.r[R.p]));
      if (!S.selected.size) S.selected = null;
      refresh();
    };
    cover.onpointerleave = () => !from && tell(null, "");
    const stack = el("div", { class: "stack" }, canvas, c.svg);
    return panel(stack, `${measures[S.y]} over size`, () => [["problem", "rows", "solver", "status", S.y], ...points.map((p) => [D.problems[p.r[R.p]][P.name], D.problems[p.r[R.p]][P.rows], D.solvers[p.r[R.s]], D.status[p.r[R.status]], p.r[m]])]);
  }

  // ------------------------------------------------------------------------------------------ one problem
  function drawPattern(F) { // blocks of W that are not zero: pairs of contacts on a body that moves
    const n = F.c.length / 8, size = 220, canvas = el("canvas", { width: size, height: size, role: "img", "aria-label": `sparsity of W: ${n} x ${n} blocks` }), g = canvas.getContext("2d"), k = size / n;
    const on = new Map();
    let filled = 0;
    for (let i = 0; i < n; i++) for (const b of [F.c[8 * i], F.c[8 * i + 1]]) if (b >= 0 && F.b[4 * b + 3]) (on.get(b) ?? on.set(b, []).get(b)).push(i);
    g.fillStyle = getComputedStyle(document.body).color;
    const seen = new Set(), blocks = () => [["row", "column"], ...[...seen].sort((x, y) => x - y).map((v) => [Math.floor(v / n) + 1, (v % n) + 1])];
    for (const list of on.values()) for (const i of list) for (const j of list) if (!seen.has(i * n + j)) seen.add(i * n + j), filled++, g.fillRect(j * k, i * k, Math.max(k, 0.6), Math.max(k, 0.6));
    return el("figure", { class: "small" }, canvas, csvButton("blocks of W", blocks), el("figcaption", {}, `W: ${n} × ${n} blocks of contacts, ${((100 * filled) / Math.max(1, n * n)).toFixed(0)} % filled`));
  }
  function drawFrame(F) {
    const canvas = el("canvas", { width: 460, height: 440, class: "space", tabindex: 0, role: "img", "aria-label": "bodies and contacts of the frame; drag or arrow keys turn it" }), g = canvas.getContext("2d"), n = F.c.length / 8;
    let low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const grow = (x, i) => { for (let k = 0; k < 3; k++) low[k] = Math.min(low[k], x[i + k]), high[k] = Math.max(high[k], x[i + k]); };
    for (let i = 0; i < n; i++) grow(F.c, 8 * i + 2);
    for (let b = 0; b < F.b.length / 4; b++) if (F.b[4 * b + 3]) grow(F.b, 4 * b);
    const mid = low.map((v, k) => (v + high[k]) / 2), size = Math.max(...low.map((v, k) => high[k] - v), 1e-6);
    const paint = () => {
      const [a, e] = S.turn, q = 300 / size, to = (x, i) => {
        const u = x[i] - mid[0], v = x[i + 1] - mid[1], w = x[i + 2] - mid[2], r = Math.cos(a) * u + Math.sin(a) * v, d = -Math.sin(a) * u + Math.cos(a) * v;
        return [230 + q * r, 220 - q * (Math.cos(e) * w + Math.sin(e) * d)];
      };
      g.clearRect(0, 0, 460, 440);
      g.strokeStyle = "#8aa4c8";
      for (let b = 0; F.s && b < F.b.length / 4; b++) {
        const [hx, hy, hz, w, x, y, z] = F.s.slice(7 * b, 7 * b + 7);
        if (!F.b[4 * b + 3] || !(hx + hy + hz > 0)) continue;
        const R = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
        const corner = (i) => { const p = [i & 1 ? hx : -hx, i & 2 ? hy : -hy, i & 4 ? hz : -hz]; return to([0, 1, 2].map((k) => F.b[4 * b + k] + R[3 * k] * p[0] + R[3 * k + 1] * p[1] + R[3 * k + 2] * p[2]), 0); };
        g.beginPath();
        for (let i = 0; i < 8; i++) for (const bit of [1, 2, 4]) if (!(i & bit)) g.moveTo(...corner(i)), g.lineTo(...corner(i | bit));
        g.stroke();
      }
      g.fillStyle = "#8aa4c8";
      for (let b = 0; b < F.b.length / 4; b++) if (F.b[4 * b + 3]) { const [x, y] = to(F.b, 4 * b); g.beginPath(), g.arc(x, y, 4, 0, 7), g.fill(); }
      for (let i = 0; i < n; i++) {
        const p = to(F.c, 8 * i + 2), tip = to([0, 1, 2].map((k) => F.c[8 * i + 2 + k] + 0.08 * size * F.c[8 * i + 5 + k]), 0);
        g.strokeStyle = g.fillStyle = "#d1495b";
        g.beginPath(), g.moveTo(...p), g.lineTo(...tip), g.stroke();
        g.beginPath(), g.arc(...p, 2, 0, 7), g.fill();
        g.strokeStyle = "rgba(120,140,170,.35)";
        for (const b of [F.c[8 * i], F.c[8 * i + 1]]) if (b >= 0 && F.b[4 * b + 3]) g.beginPath(), g.moveTo(...p), g.lineTo(...to(F.b, 4 * b)), g.stroke();
      }
    };
    let held = null;
    canvas.onpointerdown = (e) => (held = [e.clientX, e.clientY], canvas.setPointerCapture(e.pointerId));
    canvas.onpointermove = (e) => { if (held) S.turn[0] += (e.clientX - held[0]) / 120, S.turn[1] += (e.clientY - held[1]) / 120, held = [e.clientX, e.clientY], paint(); };
    canvas.onpointerup = () => (held = null);
    canvas.onkeydown = (e) => { const d = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key]; if (d) e.preventDefault(), S.turn[0] += d[0], S.turn[1] += d[1], paint(); };
    paint();
    const contacts = () => [["body 1", "body 2", "x", "y", "z", "nx", "ny", "nz"], ...Array.from({ length: n }, (_, i) => F.c.slice(8 * i, 8 * i + 8))];
    return el("figure", { class: "small" }, canvas, csvButton("contacts of the frame", contacts), el("figcaption", {}, "bodies that move as boxes of the same mass and inertia, contacts with their normals; drag or arrow keys turn it"));
  }
  // The frame in the viewer itself: its page lies in the report once, deflated, and gets the frame as its recording.
  const inflate = async (element) => new Response(new Blob([Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  let viewerPage = null;
  async function fillViewer(holder, p) {
    const recording = $(`script.stage[data-p="${p}"]`), end = "<" + "/script>", look = `contacts=1&forces=1&plots=none&theme=${dark.matches ? "dark" : "light"}`;
    viewerPage ??= await inflate($("#viewer"));
    const inside = `<script type="text/plain" class="look">${look}${end}<script type="application/octet-stream" class="recording">${recording.textContent}${end}`;
    const view = el("iframe", { class: "viewer", title: `${D.problems[p][P.name]} in the viewer`, tabindex: 0 });
    view.srcdoc = viewerPage.replace("<!--recordings-->", () => inside);
    holder.replaceChildren(view);
  }
  function drawViewer(p) {
    const q = D.problems[p], command = q[P.frame] ? el("span", {}, "in a window of its own: ", el("code", {}, `moreau view ${/^[\w.\/-]+$/.test(q[P.file]) ? q[P.file] : `'${q[P.file].replaceAll("'", "'\\''")}'`} --frame ${q[P.frame]}`)) : "";
    if (!$("#viewer") || !$(`script.stage[data-p="${p}"]`)) return command ? el("p", { class: "dim why" }, "This frame is not in the page; ", command) : "";
    const holder = el("div", { class: "holder" });
    const press = el("button", { type: "button", id: "show-viewer", onclick: () => (S.viewer = true, fillViewer(holder, p)) }, "Show this frame in the viewer");
    if (S.viewer) fillViewer(holder, p);
    else holder.append(press);
    return el("figure", { class: "in-viewer" }, holder, el("figcaption", {}, "the frame in the viewer: its bodies, contacts and the forces of the stored answer; ", command));
  }
  function drawSpectrum(p, F) { // eigenvalues of W, largest first; below the line they count as zero
    const points = [];
    for (let i = 0; i < (F.e ?? []).length; i += 2) points.push([F.e[i], F.e[i + 1]]);
    if (!points.length) return nothing("The eigenvalues of W were not computed: it has more than 400 rows.");
    const last = points[points.length - 1][0], top = points[0][1], zero = 1e-10 * top, low = 1e-14 * top;
    const range = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(top))];
    const c = frame("spectrum of W", "number of the eigenvalue", "eigenvalue [1/kg]", [1, Math.max(2, last), [1, Math.max(2, last)], true], range);
    const Y = (v) => c.Y(Math.min(range[1], Math.max(range[0], Math.log10(Math.max(v, low)))));
    c.svg.append(sv("line", { class: "before", x1: box.left, x2: box.left + box.width, y1: Y(zero), y2: Y(zero), stroke: "currentColor" }), sv("text", { class: "tick", x: box.left + box.width + 8, y: Y(zero) + 3.5 }, "rank: above"));
    for (const [k, v] of points) {
      const dot = sv("circle", { cx: c.X(k).toFixed(1), cy: Y(v).toFixed(1), r: 2.2, fill: v > zero ? colour(0) : "none", stroke: colour(0) });
      dot.onmousemove = (e) => tell(e, `eigenvalue ${k} of ${last}: ${short(v)}${v > zero ? "" : ", counts as zero"}`);
      dot.onmouseleave = () => tell(null, "");
      c.svg.append(dot);
    }
    c.svg.classList.add("spectrum");
    return panel(c.svg, `spectrum of W of ${D.problems[p][P.name]}`, () => [["number", "eigenvalue"], ...points]);
  }
  function drawConvergence(p) {
    const traces = D.traces.filter((t) => t[0] === p && t[1] === S.f && t[3].length);
    if (!traces.length) return nothing(`The iterations of this problem were not followed with ${D.forms[S.f]} (--traces).`);
    const longest = Math.max(10, ...traces.map((t) => t[3][t[3].length - 1])), top = Math.ceil(Math.log10(longest));
    const c = frame(`convergence, ${D.forms[S.f]}`, "iteration", "error", [0, top], [-14, 2]);
    for (const t of traces) if (!S.hidden.has(t[2])) curve(c, t[2], "M" + t[3].map((k, i) => `${c.X(Math.min(top, Math.log10(Math.max(1, k)))).toFixed(1)} ${c.Y(Math.min(2, Math.max(-14, Math.log10(Math.max(t[4][i] ?? 1e2, 1e-14))))).toFixed(1)}`).join("L"), 1.4, () => `${D.solvers[t[2]]}: ${short(t[4][t[4].length - 1])} after ${t[3][t[3].length - 1]} iterations`);
    legend(c, [...new Set(traces.map((t) => t[2]))]);
    const longer = traces.filter((t) => at.get(code(p, S.f, t[2], D.tols.length - 1))?.[R.iterations] > 1.1 * t[3][t[3].length - 1] + 10);
    if (longer.length) c.svg.append(sv("text", { class: "tick", x: box.left, y: H - 4 }, `not to their end: ${longer.map((t) => D.solvers[t[2]]).join(", ")} (curves have 2000 iterations at most)`));
    return panel(c.svg, `convergence of ${D.problems[p][P.name]}`, () => [["solver", "iteration", "error"], ...traces.flatMap((t) => t[3].map((k, i) => [D.solvers[t[2]], k, t[4][i]]))]);
  }
  function drawProblem() {
    const p = S.problem;
    if (p < 0) return [nothing("No problem is open: click a point above, a curve of the profile, or a row of the table of problems.")];
    const q = D.problems[p], F = D.frames[p], facts = [`${q[P.rows]} rows`, `${q[P.contacts]} contacts`, q[P.dof] ? `${q[P.dof]} degrees of freedom` : "", q[P.deficiency] === null ? "rank not computed" : `rank deficiency ${q[P.deficiency]}`, q[P.condition] === null ? "" : `condition ${short(q[P.condition])}`, q[P.mass] === null ? "" : `mass ratio ${short(q[P.mass])}`, q[P.by] ? `as stored by ${q[P.by]}: ${short(q[P.stored])} m/s` : ""].filter((x) => x);
    const rows = D.solvers.map((_, s) => at.get(code(p, S.f, s, S.t))).filter((r) => r);
    const heads = ["solver", "status", "iterations", "total [s]", "error", "normal", "friction", "FB", "CCK", "why"];
    const number = (r, k) => el("td", { class: "n", "data-v": r[k] ?? 1e300 }, short(r[k]));
    const line = (r) => el("tr", {}, el("td", {}, D.solvers[r[R.s]]), el("td", {}, D.status[r[R.status]]),
      ...[R.iterations, R.total, R.error, R.normal, R.friction, R.fb, R.cck].map((k) => number(r, k)), el("td", {}, D.details[r[R.detail]]));
    const table = el("table", { class: "sort" }, el("thead", {}, el("tr", {}, ...heads.map((h) => el("th", {}, h)))), el("tbody", {}, ...rows.map(line)));
    sortable(table);
    return [el("h3", { id: "problem", tabindex: -1 }, q[P.name]), el("p", {}, facts.join(" · ")), el("div", { class: "charts" }, F ? drawPattern(F) : nothing("No picture: frames of stored problems have no bodies, and large or many frames are left out of the page."), F ? drawFrame(F) : "", F ? drawSpectrum(p, F) : "", drawConvergence(p)), drawViewer(p), table];
  }
  function open(p) {
    S.problem = p;
    refresh();
    $("#problem").focus({ preventScroll: true });
    $("#problem").scrollIntoView({ block: "nearest" });
    location.replace(`#problem=${encodeURIComponent(D.problems[p][P.name])}`);
  }

  // ------------------------------------------------------------------------------------------ two reports
  function drawOverlay() {
    if (!S.other) return [];
    const O = S.other.D, names = new Map(O.problems.map((p, i) => [p[0], i])), f = O.forms.indexOf(D.forms[S.f]), t = O.tols.indexOf(D.tols[S.t]), rows = [];
    if (f < 0 || t < 0) return [nothing("The other report has not this formulation at this tolerance.")];
    D.solvers.forEach((name, s) => {
      const o = O.solvers.indexOf(name), logs = [];
      if (!s || o < 0) return;
      let now = 0, before = 0, all = 0;
      for (const p of chosen()) {
        const a = at.get(code(p, S.f, s, S.t)), b = names.has(D.problems[p][0]) ? S.other.at.get(code(names.get(D.problems[p][0]), f, o, t)) : null;
        if (!a || !b) continue;
        all++, now += a[R.status] === 0, before += b[R.status] === 0;
        if (a[R.status] === 0 && b[R.status] === 0 && a[R.total] > 0 && b[R.total] > 0) logs.push(Math.log(a[R.total] / b[R.total]));
      }
      if (all) rows.push([name, all, now, before, logs.length ? Math.exp(logs.reduce((x, y) => x + y, 0) / logs.length) : null]);
    });
    if (!rows.length) return [nothing("The two reports have no run in common.")];
    return [el("p", {}, `Laid over: ${S.other.name} (thin dotted curves).`), el("table", { class: "sort", id: "overlay" }, el("thead", {}, el("tr", {}, ...["solver", "problems in both", "solved here", "solved there", "time here / there"].map((h) => el("th", {}, h)))), el("tbody", {}, ...rows.map((r) => el("tr", { class: r[2] < r[3] ? "bad" : "" }, ...r.map((v, i) => el("td", i ? { class: "n", "data-v": v ?? 1e300 } : {}, i < 4 ? String(v) : short(v)))))))];
  }
  async function lay(file) {
    const text = await file.text(), found = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(text);
    if (!found) return tell({ pageX: scrollX + 40, pageY: scrollY + 40 }, `${file.name} is not a report of moreau compare`);
    const O = { D: JSON.parse(found[1]), name: file.name, at: new Map() };
    O.D.runs.forEach((r) => O.at.set(code(r[0], r[1], r[2], r[3]), r));
    S.other = O;
    refresh();
  }

  // ------------------------------------------------------------------------------------------ the page
  const option = (value, text, on) => { const o = el("option", { value }, text); o.selected = on; return o; };
  const choose = (id, label, list, value, act) => el("label", {}, `${label} `, el("select", { id, onchange: (e) => (act(e.target.value), refresh()) }, ...list.map(([v, t]) => option(v, t, String(v) === String(value)))));
  function controls() {
    const families = [...new Set(D.problems.map((p) => p[P.family]))];
    return el("p", { class: "controls" },
      choose("c-form", "formulation", [...present].sort((a, b) => a - b).map((f) => [f, D.forms[f] === "-" ? "stored problems" : D.forms[f]]), S.f, (v) => (S.f = +v)),
      choose("c-tol", "tolerance", D.tols.map((t, i) => [i, String(t)]), S.t, (v) => (S.t = +v)),
      choose("c-group", "problems", Object.entries(groups), S.group, (v) => (S.group = v)),
      choose("c-family", "family", [["", "all"], ...families.map((f) => [f, f])], S.family, (v) => (S.family = v)),
      choose("c-y", "measure", Object.entries(measures), S.y, (v) => (S.y = v)),
      el("label", {}, (() => { const b = el("input", { type: "checkbox", id: "bands", onchange: () => refresh() }); b.checked = true; return b; })(), " 95 % bands"),
      el("button", { id: "clear", type: "button", onclick: () => (S.selected = null, S.hidden.clear(), refresh()) }, "clear selection"),
      el("label", {}, "lay another report over it ", el("input", { type: "file", id: "other", accept: ".html", onchange: (e) => e.target.files[0] && lay(e.target.files[0]) })),
      el("span", { id: "selected", class: "dim", role: "status" }));
  }
  function toggle(s) {
    if (!S.hidden.delete(s)) S.hidden.add(s);
    refresh();
  }
  function refresh() {
    const put = (id, kids) => $(id).replaceChildren(...[kids].flat());
    put("#x-profile", drawProfile()), put("#x-scatter", drawScatter()), put("#x-overlay", drawOverlay()), put("#x-problem", drawProblem());
    $("#selected").textContent = `${S.selected ? `${S.selected.size} problems selected. ` : ""}${S.hidden.size ? `Hidden: ${[...S.hidden].map((s) => D.solvers[s]).join(", ")}.` : ""}`;
    for (const path of $$(".charts:not(.own) .s")) for (const c of path.classList) if (/^c\d+$/.test(c)) path.style.display = S.hidden.has(+c.slice(1) + 1) ? "none" : "";
  }
  window.moreauReport = { data: D, state: S, open, lay, csv: "" };

  // charts that the page came with: hover, hide, numbers
  function enliven(svg) {
    const own = svg.closest(".own"), names = new Map($$(".key", svg).map((k) => [k.dataset.c, k.textContent.trim()]));
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", $(".title", svg)?.textContent ?? "chart");
    const name = (path) => names.get([...path.classList].find((c) => /^c\d+$/.test(c))) || $(".title", svg)?.textContent || "";
    for (const path of $$(".s", svg)) path.onmousemove = (e) => tell(e, name(path)), path.onmouseleave = () => tell(null, "");
    for (const k of $$(".key", svg)) {
      const lines = $$("." + k.dataset.c, svg);
      k.onmouseenter = () => (svg.classList.add("pick"), lines.forEach((e) => e.classList.add("on")));
      k.onmouseleave = () => (svg.classList.remove("pick"), lines.forEach((e) => e.classList.remove("on")));
      clickable(k, () => (own ? lines.forEach((e) => (e.style.display = e.style.display ? "" : "none")) : toggle(+k.dataset.c.slice(1) + 1)));
    }
    if (!svg.dataset.x) return;
    const axis = (text) => { const [from, size, low, high, log] = text.split(" ").map(Number); return (v) => { const u = low + ((v - from) / size) * (high - low); return log ? 10 ** u : u; }; };
    const X = axis(svg.dataset.x), Y = axis(svg.dataset.y), title = $(".title", svg)?.textContent ?? "chart";
    svg.after(csvButton(title, () => [["curve", "x", "y"], ...$$(".s", svg).flatMap((path, i) => {
      let x = 0, y = 0;
      return [...path.getAttribute("d").matchAll(/([MLHV])([-\d.]+)(?: ([-\d.]+))?/g)].map(([, c, a, b]) => (c === "H" ? (x = +a) : c === "V" ? (y = +a) : (x = +a, y = +b), [name(path) || `curve ${i + 1}`, +X(x).toPrecision(4), +Y(y).toPrecision(4)]));
    })]));
  }

  $("#explore").append(controls(), el("div", { class: "charts" }, el("div", { id: "x-profile", class: "charts" }), el("div", { id: "x-scatter" })), el("div", { id: "x-overlay" }), el("div", { id: "x-problem" }));
  const wanted = /^#problem=(.*)$/.exec(location.hash), index = wanted ? D.problems.findIndex((p) => p[P.name] === decodeURIComponent(wanted[1])) : -1;
  if (index >= 0) S.problem = index;
  if (present.size) refresh();
  else $("#explore").replaceChildren(nothing("No solver was compared: the formulations of this comparison solve by themselves."));
  showRuns();
  requestAnimationFrame(() => setTimeout(() => {
    $$("svg.chart").filter((s) => !s.closest("#explore")).forEach(enliven);
    $$("#problem-table tbody tr").forEach((tr, i) => (tr.dataset.p = i, clickable(tr, () => open(+tr.dataset.p))));
    document.body.dataset.ready = "1";
  }));
  dark.onchange = () => present.size && refresh();
  addEventListener("keydown", (e) => e.key === "Escape" && (S.selected || S.hidden.size) && (S.selected = null, S.hidden.clear(), refresh()));
})();
