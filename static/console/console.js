// What the console needs beyond HTML and htmx. Every page can be read without it.
"use strict";

// The menu is open where there is room for it beside the page; newer browsers do that by the stylesheet.
const menu = document.querySelector("details.menu");
const wide = window.matchMedia("(min-width: 60rem)");
function fitMenu() { if (menu) menu.open = wide.matches; }
wide.addEventListener("change", fitMenu);
fitMenu();

// "/" goes to the page's search, as people expect of lists.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
  const search = document.querySelector("input[type=search]");
  if (search) { event.preventDefault(); search.focus(); search.select(); }
});

// A range shows its value in the output beside it.
document.addEventListener("input", (event) => {
  if (event.target.type !== "range") return;
  const output = event.target.closest(".field, label")?.querySelector("output");
  if (output) output.textContent = event.target.value;
});

// One box selects all of a list's.
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-selects]")) return;
  const boxes = document.querySelectorAll(`input[name="${event.target.dataset.selects}"]`);
  boxes.forEach((box) => { box.checked = event.target.checked; });
});

// What is shown once, such as a key, can be copied.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent.trim());
  button.textContent = "Copied";
});
