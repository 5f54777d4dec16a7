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
  return { room: ROOMS.some(([name]) => name === room) ? room : "home", path: rest.map(decoded), params: new URLSearchParams(query) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function open() {
  const { room, path, params } = place();
  const mine = ++opening;
  close?.();
  close = null;
  document.getElementById("notices").replaceChildren();
  for (const sheet of document.querySelectorAll("link[href^='/static/rooms/']")) sheet.disabled = !sheet.href.endsWith(`/${room}.css`); // no room's look reaches another
  for (const link of nav.children) {
    if (link.dataset.room === room) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${ROOMS.find(([name]) => name === room)[1]} · chainrule studio`;
  try {
    const module = await import(`./rooms/${room}.js`);
    if (mine !== opening) return; // another room was opened meanwhile
    main.dataset.room = room;
    const container = h("div", { class: "room" });
    main.replaceChildren(container);
    const closing = (await module.open(container, { path, params })) || null;
    if (mine !== opening) return closing?.();
    close = closing;
  } catch (error) {
    show(main, h("div", { class: "panel" }, h("h1", {}, "This page could not be opened"), h("p", {}, error.message)));
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
