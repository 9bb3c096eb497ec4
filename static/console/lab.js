// The recall lab: what does nothing in the chosen profile, or without episodes, cannot be moved.
"use strict";

document.addEventListener("input", (event) => {
  const form = event.target.closest(".lab-form");
  if (!form || !event.target.matches("select, [type=checkbox]")) return;
  const boxes = [...form.querySelectorAll("input[name=kinds]")];
  const episodes = boxes.every((box) => !box.checked) || boxes.some((box) => box.checked && box.value === "episode");
  form.querySelectorAll("[data-profiles]").forEach((control) => {
    const profile = control.closest("fieldset").querySelector("select").value;
    control.disabled = !episodes || !control.dataset.profiles.split(" ").includes(profile);
  });
});
