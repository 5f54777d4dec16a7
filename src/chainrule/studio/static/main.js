// The rooms, the address bar, the theme, the keyboard.
import { h, show, notify } from "./dom.js";
import "./live.js";

const ROOMS = [
  ["home", "Home"],
  ["playground", "Playground"],
  ["draw", "Draw and see"],
  ["sequences", "Sequences"],
  ["graphs", "Graphs and decisions"],
  ["lab", "Lab"],
  ["runs", "Runs"],
];
const main = document.getElementById("room");
const nav = document.getElementById("rooms");
let close = null;
let opening = 0;

/** `#/playground?data=moons` as the room, what follows it, and its parameters. */
function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [room, ...rest] = path.split("/");
  return { room: ROOMS.some(([name]) => name === room) ? room : "home", path: rest.map(decodeURIComponent), params: new URLSearchParams(query) };
}

async function open() {
  const { room, path, params } = place();
  const mine = ++opening;
  close?.();
  close = null;
  for (const link of nav.children) {
    if (link.dataset.room === room) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${ROOMS.find(([name]) => name === room)[1]} · chainrule studio`;
  try {
    const module = await import(`./rooms/${room}.js`);
    if (mine !== opening) return; // another room was opened meanwhile
    main.replaceChildren();
    main.dataset.room = room;
    close = (await module.open(main, { path, params })) || null;
  } catch (error) {
    show(main, h("div", { class: "panel" }, h("h1", {}, "This room did not open"), h("p", {}, error.message)));
    notify(error.message);
  }
}

function toggleTheme() {
  const dark = document.documentElement.dataset.theme !== "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  localStorage.setItem("theme", dark ? "dark" : "light");
  nameTheme();
  document.dispatchEvent(new Event("themechange"));
}

function nameTheme() {
  const dark = document.documentElement.dataset.theme === "dark";
  show(document.getElementById("theme"), dark ? "Light" : "Dark");
  document.getElementById("theme").setAttribute("aria-label", dark ? "Use light colors" : "Use dark colors");
}

nav.append(...ROOMS.map(([name, title]) => h("a", { href: `#/${name}`, "data-room": name }, title)));
document.getElementById("theme").addEventListener("click", toggleTheme);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", open);
if (location.search) history.replaceState(null, "", location.pathname + location.hash); // the token is in a cookie now
nameTheme();
open();
