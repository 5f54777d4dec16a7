// Before the first paint: light or dark, as chosen here or by the system.
(() => {
  const chosen = localStorage.getItem("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen || (dark ? "dark" : "light");
})();
