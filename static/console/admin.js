// The admin's boxes of two lists explain their filters by a picture that has a text and no role.
"use strict";

const explain = () => document.querySelectorAll(".help-tooltip[aria-label]:not([role])").forEach((one) => one.setAttribute("role", "img"));
new MutationObserver(explain).observe(document.documentElement, { childList: true, subtree: true });
explain();
