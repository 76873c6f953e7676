// Charts are drawn from the JSON beside them, in the colours of the style; tables sort by a click on a head.
"use strict";

(() => {
  const charts = [...document.querySelectorAll(".chart")].map((place) => ({
    place,
    spec: JSON.parse(place.querySelector("script").textContent),
  }));

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const COLOURS = 8; // as in marks.py

  function painted(mark) {
    const colour = style(`--series-${mark.meta.slot % COLOURS}`);
    if (mark.meta.role === "band") return { ...mark, fillcolor: `${colour}30`, line: { width: 0 } };
    if (mark.meta.role === "heat") return { ...mark, colorscale: [[0, style("--raised")], [1, colour]] };
    const one = { ...mark, line: { ...mark.line, color: colour }, textfont: { color: style("--ink") } };
    if (mark.marker) one.marker = { ...mark.marker, color: colour };
    if (mark.error_x) one.error_x = { ...mark.error_x, color: colour };
    return one;
  }

  function axis(given, narrow) {
    const lines = { gridcolor: style("--grid"), linecolor: style("--rule"), zerolinecolor: style("--soft") };
    const text = narrow ? given.title.text.replace(/ \(/, "<br>(") : given.title.text;
    return { ...given, ...lines, zerolinewidth: 1.5, title: { text, standoff: 8, font: { size: narrow ? 12 : 13 } } };
  }

  function layout(spec, place) {
    const narrow = place.clientWidth < 480;
    return {
      ...spec.layout,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "inherit", size: narrow ? 11 : 13, color: style("--ink") },
      margin: { l: 12, r: 12, t: 8, b: 12 },
      xaxis: axis(spec.layout.xaxis, narrow),
      yaxis: axis(spec.layout.yaxis, narrow),
      legend: { orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom" },
      hoverlabel: { bgcolor: style("--raised"), bordercolor: style("--rule"), font: { color: style("--ink") } },
      hovermode: "closest",
    };
  }

  function drawOne(chart) {
    const options = { displaylogo: false, displayModeBar: false, scrollZoom: false };
    const { place, spec } = chart;
    chart.width = place.clientWidth;
    return Plotly.react(place, spec.data.map(painted), { ...layout(spec, place), width: chart.width }, options);
  }

  const draw = () => Promise.all(charts.map(drawOne));

  // not only the window makes a place narrower: a scroll bar that appears does too
  function follow() {
    const watch = new ResizeObserver(() => {
      for (const chart of charts) if (chart.place.clientWidth !== chart.width) drawOne(chart);
    });
    for (const { place } of charts) watch.observe(place);
  }

  function compare(a, b) {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
  }

  function sort(head) {
    const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", direction);
    const place = [...head.parentElement.children].indexOf(head);
    const body = head.closest("table").tBodies[0];
    const value = (row) => row.cells[place].dataset.sort;
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === ""); // cells without a value stay below
      return direction === "ascending" ? compare(x, y) : compare(y, x);
    });
    body.append(...rows);
  }

  for (const head of document.querySelectorAll("th"))
    head.querySelector("button").addEventListener("click", () => sort(head));

  if (charts.length) {
    draw().then(follow).then(() => document.documentElement.setAttribute("data-drawn", charts.length));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    matchMedia("print").addEventListener("change", draw);
  } else {
    document.documentElement.setAttribute("data-drawn", 0);
  }
})();
