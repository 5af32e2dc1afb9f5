// The only module that makes DOM. Text becomes text nodes, attributes are checked, and nothing is ever parsed as HTML.

import { marked } from "./legible.js";

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "rect", "line", "circle", "text", "title", "clipPath", "defs"]);
const TAGS = new Set(
  ("a abbr article aside b blockquote br button canvas caption code col colgroup dd del details dialog div dl dt em fieldset figcaption figure " +
    "footer form h1 h2 h3 h4 h5 h6 header hr i iframe img input ins kbd label legend li main mark meter nav ol optgroup option output p pre progress q s " +
    "samp section select small span strong sub summary sup table tbody td textarea tfoot th thead time tr u ul var wbr").split(" "),
);
const ATTRIBUTES = new Set(
  ("class id role tabindex title type name value placeholder for href target rel lang dir hidden disabled checked selected readonly required open " +
    "rows cols min max step maxlength autocomplete spellcheck inputmode colspan rowspan scope datetime alt src width height label multiple start wrap " +
    "d x y x1 y1 x2 y2 cx cy r rx ry points transform viewBox fill stroke clip-path preserveAspectRatio focusable draggable sandbox loading").split(" "),
);

/** Make an element: `el("a.button", { href: "/app/runs", on: { click } }, "Runs")`. */
export function el(name, attributes = {}, ...children) {
  if (attributes === null || typeof attributes !== "object" || attributes instanceof Node || Array.isArray(attributes)) {
    children.unshift(attributes);
    attributes = {};
  }
  const [tag, ...classes] = name.split(".");
  const isSvg = SVG_TAGS.has(tag) && (tag !== "title" || attributes.svg);
  if (!isSvg && !TAGS.has(tag)) throw new Error(`no element ${tag}`);
  const node = isSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes)) set(node, key, value);
  append(node, children);
  return node;
}

function set(node, key, value) {
  if (value === undefined || value === null || value === false || key === "svg") return;
  if (key === "on") {
    for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
  } else if (key === "class") {
    const names = String(value).split(/\s+/).filter(Boolean);
    node.classList.add(...names);
  } else if (key === "href") {
    const safe = safeHref(value);
    if (safe !== null) node.setAttribute("href", safe);
  } else if (key === "src") {
    // Pictures and previews come from this server alone.
    if (String(value).startsWith("/") && !String(value).startsWith("//")) node.setAttribute("src", value);
  } else if (ATTRIBUTES.has(key) || /^(aria|data)-[a-z-]+$/.test(key)) {
    node.setAttribute(key, value === true ? "" : String(value));
  } else {
    throw new Error(`no attribute ${key}`);
  }
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === true) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replace everything in a node. */
export function mount(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

/** A link target that cannot run anything: a path of this server, http, https or mailto; otherwise null. */
export function safeHref(target) {
  const text = String(target);
  if (/^\/(?![/\\])/.test(text) || text.startsWith("#")) return text;
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Text that somebody else wrote: what cannot be seen is shown as a mark, and its direction is kept to itself. */
export function shown(text, { lines = false } = {}) {
  const node = el(lines ? "div.text" : "bdi.text".replace("bdi", "span"), { dir: "auto" });
  for (const piece of marked(String(text), { lines })) {
    append(node, [piece.mark ? el("span.unseen", { title: piece.title }, piece.text) : piece.text]);
  }
  return node;
}

/** Save data as a file of the person's. */
export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
