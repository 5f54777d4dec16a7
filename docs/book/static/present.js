/* A chapter as slides: one section at a time in large type. ?present or the link below the title starts it;
   ← and → turn, t hides the prose and leaves equations, code, pictures and theorems, Escape ends it. */
addEventListener("DOMContentLoaded", () => {
  const link = document.querySelector("a.present-link");
  if (!link) return;
  const root = document.documentElement;
  const slides = [...document.querySelectorAll("article section")];
  const bar = document.createElement("p");
  bar.className = "present-bar";
  bar.innerHTML = `<button title="Back (←)">←</button> <output></output> <button title="On (→)">→</button>
    <button title="With or without prose (t)">text</button> <button title="End (Esc)">×</button>`;
  document.body.append(bar);
  let place = 0;

  function show(next) {
    slides[place].classList.remove("slide");
    place = Math.max(0, Math.min(next, slides.length - 1));
    slides[place].classList.add("slide");
    bar.querySelector("output").textContent = `${place + 1} / ${slides.length}`;
    history.replaceState(null, "", `#${slides[place].id}`);
    scrollTo(0, 0);
  }
  function start() {
    root.classList.add("present");
    show(Math.max(0, slides.findIndex((one) => `#${one.id}` === location.hash)));
  }
  function end() {
    root.classList.remove("present", "brief");
    history.replaceState(null, "", link.pathname + location.hash);
    slides[place].scrollIntoView();
  }
  const keys = {
    ArrowLeft: () => show(place - 1),
    ArrowRight: () => show(place + 1),
    Home: () => show(0),
    End: () => show(slides.length - 1),
    t: () => root.classList.toggle("brief"),
    Escape: end,
  };
  // Before the theme, whose arrows turn the pages of the site.
  addEventListener("keydown", (event) => {
    const known = keys[event.key];
    if (!known || !root.classList.contains("present") || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    known();
  }, true);
  const order = ["ArrowLeft", "ArrowRight", "t", "Escape"];
  bar.querySelectorAll("button").forEach((button, k) => button.addEventListener("click", keys[order[k]]));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    start();
  });
  if (new URLSearchParams(location.search).has("present")) start();
});
