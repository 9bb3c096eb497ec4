// What Swagger UI draws, for screen readers and keyboards: headings without a gap, a place for what stands above its
// main part, no link within a button, which opens the same, and examples that can be scrolled. It draws bit by bit,
// and again when something is opened.
"use strict";

const mended = document.querySelector("#swagger-ui");
function mend() {
  const all = (selector, change) => mended.querySelectorAll(selector).forEach(change);
  all(":is(h3, h4, h5):not([aria-level])", (one) => one.setAttribute("aria-level", one.tagName[1] - 1));
  all(".information-container:not([role])", (one) => one.setAttribute("role", "banner"));
  all("button a[href]", (one) => one.removeAttribute("href"));
  all("pre.microlight:not([tabindex])", (one) => one.setAttribute("tabindex", "0"));
}
new MutationObserver(mend).observe(mended, { childList: true, subtree: true });
mend();
