"use strict";
// Colours of the charts are those of the style, so that they follow light and dark by themselves.
function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

// What a mark of a chart stands for, beside the pointer or the finger.
function showTip(event) {
  const tip = document.getElementById("tip");
  const mark = event.target.closest("[data-tip]");
  tip.hidden = mark === null;
  if (mark === null) return;
  tip.textContent = mark.dataset.tip;
  const left = Math.min(event.pageX + 12, scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(left, scrollX + 4)}px`;
  tip.style.top = `${event.pageY + 14}px`;
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
document.addEventListener("pointermove", showTip);
document.addEventListener("pointerdown", showTip);
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => sortBy(button.closest("th")));
}
document.documentElement.dataset.ready = "true";
