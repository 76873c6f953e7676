// Tables sort by a click on a head, and charts are drawn again when their place changes.
"use strict";

(() => {
  const charts = [...document.querySelectorAll(".chart")].map((place) => ({
    place,
    spec: JSON.parse(place.querySelector("script").textContent),
    hidden: new Set(),
  }));

  const drawAll = () => charts.forEach(draw);

  // not only the window makes a place narrower: a scroll bar that appears does too
  function watchPlaces() {
    const watch = new ResizeObserver(() => {
      for (const chart of charts) if (chart.place.clientWidth !== chart.width) draw(chart);
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

  drawAll();
  watchPlaces();
  matchMedia("print").addEventListener("change", drawAll);
  document.documentElement.setAttribute("data-drawn", charts.length);
})();
