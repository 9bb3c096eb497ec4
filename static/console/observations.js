// Escape empties the search, also where the browser does not do that by itself.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !event.target.matches("input[type=search]") || !event.target.value) return;
  event.preventDefault();
  event.target.value = "";
  event.target.dispatchEvent(new Event("input", { bubbles: true }));
});
