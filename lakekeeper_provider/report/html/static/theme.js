// The theme that is chosen in Airflow, which keeps it in the browser; the system's where nothing is chosen.
"use strict";
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // Storage may be switched off: then the system's theme counts.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  addEventListener("storage", (event) => {
    if (event.key === "theme") location.reload();
  });
})();
