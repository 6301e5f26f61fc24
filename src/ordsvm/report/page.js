"use strict";
// Charts take their colours from the page, so that they follow light and dark.
function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), line: of("--line"), card: of("--card") };
}

function themed(layout) {
  const { ink, line, card } = theme();
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
  const copy = { ...layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 12 } };
  copy.margin = { l: 50, r: 10, t: 40, b: 44 };
  copy.legend = { orientation: "h", y: 1.07, yanchor: "bottom", x: 0 };
  copy.hoverlabel = { bgcolor: card, bordercolor: line, font: { color: ink } };
  for (const key of ["xaxis", "yaxis"]) copy[key] = { ...layout[key], ...axis };
  return copy;
}

const figures = JSON.parse(document.getElementById("figures").textContent);

// Numbers on a heat map are written on the page's background where a cell is pale.
function traces(figure) {
  return figure.data.map((trace) => (trace.texttemplate ? { ...trace, textfont: { color: theme().ink } } : trace));
}

function drawAll() {
  for (const [name, figure] of Object.entries(figures)) {
    const place = document.getElementById(name);
    Plotly.react(place, traces(figure), themed(figure.layout), { responsive: true, displaylogo: false, displayModeBar: false });
  }
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  drawAll();
}

// A click on a heading sorts by that column, a second one the other way round.
function sortBy(heading) {
  const table = heading.closest("table");
  const column = [...heading.parentNode.children].indexOf(heading);
  const falling = heading.getAttribute("aria-sort") !== "descending";
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const value = (row) => row.children[column].dataset.value ?? row.children[column].textContent;
  const isNumber = heading.classList.contains("number");
  const order = (a, b) => (isNumber ? Number(value(a)) - Number(value(b)) : value(a).localeCompare(value(b)));
  const rows = [...table.tBodies[0].rows].sort((a, b) => (falling ? order(b, a) : order(a, b)));
  table.tBodies[0].append(...rows);
}

document.querySelector("button.theme").addEventListener("click", switchTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => sortBy(button.closest("th")));
}
drawAll();
document.documentElement.dataset.drawn = "true";
