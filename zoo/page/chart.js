// Charts: drawn as SVG from the JSON beside them, as wide as their place. Colours are those of the style at all times.
"use strict";

const TURNED = 150; // pixels of a label that stands upright

const pen = document.createElement("canvas").getContext("2d");

/** How wide a text is, in the font of the page. */
function widthOf(text, size) {
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

const widest = (lines, size) => Math.max(0, ...lines.map((line) => widthOf(line, size)));

/** A text in lines of that width. */
function broken(text, width, size) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && widthOf(longer, size) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** A text that is not wider than that. */
function fitted(text, width, size) {
  let end = text.length;
  while (end > 1 && widthOf(text.slice(0, end) + "…", size) > width) end--;
  return widthOf(text, size) <= width ? text : `${text.slice(0, end)}…`;
}

function words(lines, x, y, size, attributes) {
  const spans = lines.map((line, i) => svg("tspan", { x, dy: i ? size * 1.2 : 0 }, line));
  return svg("text", { x, y, "font-size": size, ...attributes }, ...spans);
}

/** The inner rectangle, and what stands around it. */
function frame(spec, scales, width, size) {
  const line = 1.2 * size;
  const rows = scales.y.ticks(spec.height / 55);
  const cut = 0.42 * width;
  const left = Math.min(cut, Math.max(...rows.map((one) => widest(one.lines, size)), 0)) + 12;
  const head = spec.y.title ? broken(spec.y.title, width, size) : [];
  const foot = spec.x.title ? broken(spec.x.title, width - left, size) : [];
  const inner = width - left - 14;
  const columns = scales.x.ticks(inner / 75);
  const room = inner / columns.length - 8;
  const longest = Math.max(...columns.map((one) => widest(one.lines, size)), 0);
  const turned = scales.x.cell !== undefined && longest > room;
  if (turned) for (const one of columns) one.lines = [fitted(one.lines.join(" "), TURNED, size)];
  const deep = turned ? Math.max(...columns.map((one) => widest(one.lines, size))) + 10 : 0;
  const below = deep || Math.max(...columns.map((one) => one.lines.length), 1) * line + 8;
  const top = head.length * line + 10;
  return { left, top, inner, head, foot, rows, columns, turned, line, high: spec.height - top - below - foot.length * line - 4 };
}

/** Every so many labels, that they do not touch. */
const every = (ticks, space, needed) => ticks.filter((_, i) => i % Math.max(1, Math.ceil(needed / space)) === 0);

function axes(spec, scales, f, size) {
  const [right, bottom] = [f.left + f.inner, f.top + f.high];
  const found = [words(f.head, 0, size, size, { class: "soft" })];
  const tall = (Math.max(...f.rows.map((one) => one.lines.length)) - 0.2) * f.line;
  const rows = scales.y.cell ? every(f.rows, f.high * scales.y.cell, Math.min(tall, f.line)) : f.rows;
  for (const one of rows) {
    const y = bottom - one.share * f.high;
    found.push(svg("path", { class: "grid-line", d: `M${f.left},${y.toFixed(1)}H${right}` }));
    found.push(words(one.lines, f.left - 8, y + 0.35 * size - 0.6 * size * (one.lines.length - 1), size, { "text-anchor": "end" }));
  }
  const columns = f.turned ? every(f.columns, f.inner * scales.x.cell, f.line) : f.columns;
  for (const one of columns) {
    const x = f.left + one.share * f.inner;
    found.push(svg("path", { class: "grid-line", d: `M${x.toFixed(1)},${f.top}V${bottom}` }));
    const turn = { "text-anchor": "end", transform: `rotate(-90 ${x} ${bottom + 8})` };
    found.push(
      f.turned
        ? words(one.lines, x, bottom + 8 + 0.35 * size, size, turn)
        : words(one.lines, x, bottom + f.line + 2, size, { "text-anchor": "middle" }),
    );
  }
  found.push(words(f.foot, f.left + f.inner / 2, spec.height - (f.foot.length - 1) * f.line - 4, size, { "text-anchor": "middle", class: "soft" }));
  if (scales.x.zero !== null) found.push(svg("path", { class: "zero", d: `M${f.left + scales.x.zero * f.inner},${f.top}V${bottom}` }));
  if (scales.y.zero !== null) found.push(svg("path", { class: "zero", d: `M${f.left},${bottom - scales.y.zero * f.high}H${right}` }));
  return svg("g", { class: "axes" }, ...found);
}

/** The names of the series; a click takes one out, and puts it back. */
function legend(spec, hidden, again) {
  const made = document.createElement("div");
  made.className = "legend";
  for (const mark of spec.marks.filter((one) => one.legend)) {
    const sign = [svg("path", { d: "M0,7H26", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": dashOf(mark.slot) })];
    if (mark.kind !== "line" || mark.dots) sign.push(symbol(mark.slot, 13, 7));
    if (mark.kind !== "line") sign.shift();
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", !hidden.has(mark.group));
    button.append(svg("svg", { width: 26, height: 14, style: colour(mark.slot), "aria-hidden": true }, ...sign), mark.name);
    button.addEventListener("click", () => {
      if (!hidden.delete(mark.group)) hidden.add(mark.group);
      again();
    });
    made.append(button);
  }
  return made;
}

/** Says what lies nearest to the pointer. */
function follow(picture, place, points, f) {
  const said = document.createElement("div");
  said.className = "said";
  said.hidden = true;
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const far = (one) => Math.hypot(one.at[0] - x, one.at[1] - y);
    const near = points.reduce((best, one) => (best && far(best) <= far(one) ? best : one), null);
    said.hidden = !near || far(near) > 40;
    if (said.hidden) return;
    said.textContent = near.text;
    said.style.top = `${picture.offsetTop + near.at[1] + 10}px`;
    said.style.left = `${Math.min(near.at[0] + 10, f.left + f.inner - Math.min(220, f.inner / 2))}px`;
  });
  picture.addEventListener("pointerleave", () => (said.hidden = true));
  place.append(said);
}

/** Draw one chart into its place. */
function draw(chart) {
  const { place, spec, hidden } = chart;
  chart.width = place.clientWidth;
  const [width, size] = [chart.width, chart.width < 480 ? 11 : 13];
  const marks = spec.marks.filter((one) => !hidden.has(one.group));
  const scales = {};
  for (const axis of ["x", "y"]) scales[axis] = scaleOf(spec[axis], marks.flatMap((mark) => extent(mark, axis)));
  const f = frame(spec, scales, width, size);
  const at = (x, y) => [
    x === null ? NaN : f.left + scales.x.share(x) * f.inner,
    y === null ? NaN : f.top + (1 - scales.y.share(y)) * f.high,
  ];
  const cell = [f.inner * (scales.x.cell ?? 0), f.high * (scales.y.cell ?? 0)];
  const groups = marks.map((mark) => svg("g", { class: `mark ${mark.kind}`, style: colour(mark.slot) }, ...DRAW[mark.kind](mark, at, cell)));
  const about = { role: "img", "aria-label": place.dataset.title, viewBox: `0 0 ${width} ${spec.height}`, height: spec.height };
  const picture = svg("svg", { class: "drawn", ...about }, axes(spec, scales, f, size), ...groups);
  place.replaceChildren(...(spec.marks.filter((one) => one.legend).length > 1 ? [legend(spec, hidden, () => draw(chart))] : []), picture);
  follow(picture, place, marks.flatMap((mark) => told(mark, at)), f);
}
