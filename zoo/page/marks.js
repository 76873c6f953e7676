// What stands in a chart: each mark becomes a group of SVG in the colour of its slot.
"use strict";

const COLOURS = 8; // slots of the palette, as in marks.py
const SHADES = 64; // of a heat map
const DASHES = ["", "8 5", "2 4", "8 4 2 4", "14 5", "14 4 2 4"];
const STAR = [...Array(10).keys()].map((i) => {
  const [angle, far] = [(Math.PI * i) / 5, i % 2 ? 0.55 : 1.3];
  return `${(far * Math.sin(angle)).toFixed(2)},${(-far * Math.cos(angle)).toFixed(2)}`;
});
const SYMBOLS = [
  "M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z", // circle, square, diamond
  "M-.85,-.85H.85V.85H-.85Z",
  "M0,-1.25L1.25,0L0,1.25L-1.25,0Z",
  "M0,-1.15L1.1,.8H-1.1Z", // up, ×, down
  "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z",
  "M0,1.15L1.1,-.8H-1.1Z",
  "M-.4,-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z", // +, star
  `M${STAR.join("L")}Z`,
];

/** An element of SVG with its attributes and children. */
function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const colour = (slot) => `color: var(--series-${slot % COLOURS})`;
const dashOf = (slot) => DASHES[Math.floor(slot / COLOURS) % DASHES.length] || null;

function symbol(slot, x, y) {
  const place = `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(4.5)`;
  return svg("path", { d: SYMBOLS[slot % SYMBOLS.length], transform: place, fill: "currentColor" });
}

/** A path through the points; where one is missing it begins anew. */
function through(points) {
  const step = (place, i) => `${i && there(points[i - 1]) ? "L" : "M"}${place[0].toFixed(1)},${place[1].toFixed(1)}`;
  return points.map((place, i) => (there(place) ? step(place, i) : "")).join("");
}

const there = ([x, y]) => Number.isFinite(x) && Number.isFinite(y);
const whole = (mark, at) => mark.x.map((x, i) => at(x, mark.y[i]));

/** By kind: what is drawn of a mark, where `at` gives the place of a pair of values and `cell` the size of a square. */
const DRAW = {
  line(mark, at) {
    const places = whole(mark, at);
    const stroke = { fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linejoin": "round" };
    const path = svg("path", { d: through(places), ...stroke, "stroke-dasharray": dashOf(mark.slot) });
    const near = (i) => [places[i - 1], places[i + 1]].some((one) => one && there(one));
    const marked = places.filter((one, i) => there(one) && (mark.dots || !near(i))); // a lone point is no line
    return [path, ...marked.map(([x, y]) => symbol(mark.slot, x, y))];
  },
  band(mark, at) {
    const [up, down] = [mark.high, mark.low].map((ends) => mark.x.map((x, i) => at(x, ends[i])).filter(there));
    return [svg("path", { d: `${through([...up, ...down.reverse()])}Z`, fill: "currentColor", "fill-opacity": 0.19 })];
  },
  dots(mark, at) {
    return whole(mark, at).filter(there).map(([x, y]) => symbol(mark.slot, x, y));
  },
  intervals(mark, at) {
    return mark.y.flatMap((y, i) => {
      const [low, middle, high] = [mark.low[i], mark.x[i], mark.high[i]].map((x) => at(x, y));
      const ends = [low, high].map(([x]) => `M${x.toFixed(1)},${middle[1] - 5}v10`).join("");
      const d = `${through([low, high])}${ends}`;
      return [svg("path", { d, fill: "none", stroke: "currentColor", "stroke-width": 2 }), symbol(mark.slot, ...middle)];
    });
  },
  /** Squares of the same shade are one path: a long text has more squares than a page may have elements. */
  heat(mark, at, cell) {
    const shades = new Map();
    mark.y.forEach((y, row) =>
      mark.x.forEach((x, column) => {
        const shade = Math.round(SHADES * Math.max(0, Math.min(1, mark.z[row][column] / mark.top)));
        const [left, top] = at(x, y).map((middle, i) => (middle - cell[i] / 2).toFixed(2));
        const square = `M${left},${top}h${cell[0].toFixed(2)}v${cell[1].toFixed(2)}h${(-cell[0]).toFixed(2)}z`;
        if (shade) shades.set(shade, (shades.get(shade) ?? "") + square);
      }),
    );
    const painted = { fill: "currentColor", "shape-rendering": "crispEdges" };
    return [...shades].map(([shade, d]) => svg("path", { d, ...painted, "fill-opacity": (shade / SHADES).toFixed(3) }));
  },
};

/** The values of a mark along an axis, for its range. */
function extent(mark, axis) {
  if (mark.kind === "band") return axis === "x" ? mark.x : [...mark.low, ...mark.high];
  if (mark.kind === "intervals" && axis === "x") return [...mark.x, ...mark.low, ...mark.high];
  return mark[axis];
}

/** What is said of the places of a mark when they are pointed at. */
function told(mark, at) {
  const text = (value) => (typeof value === "number" ? `${Number(value.toPrecision(5))}`.replace("-", "−") : value);
  if (mark.kind === "band") return [];
  if (mark.kind === "heat")
    return mark.y.flatMap((y, row) =>
      mark.x.map((x, column) => ({ at: at(x, y), text: `${y} → ${x}: ${text(mark.z[row][column])}`.replace(/\n/g, " ") })),
    );
  const ends = (i) => (mark.kind === "intervals" ? ` (${text(mark.low[i])} … ${text(mark.high[i])})` : "");
  return mark.x
    .map((x, i) => ({ at: at(x, mark.y[i]), text: `${mark.group}\n${text(x)}${ends(i)}, ${text(mark.y[i])}` }))
    .filter((one) => there(one.at));
}
