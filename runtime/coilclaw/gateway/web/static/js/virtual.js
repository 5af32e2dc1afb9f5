// A long list of rows of one height: only those that can be seen are in the page.

import { el } from "./dom.js";

const BEYOND = 8;

/** Make a list. `row(item, number)` makes a row; `wanted()` is called when the end of what is there comes into sight. */
export function virtualRows({ label, height, row, wanted = () => {} }) {
  const inner = el("div.virtual-space", { role: "list" });
  const node = el("div.virtual", { "aria-label": label, role: "region", tabindex: "0" }, inner);
  let items = [];
  let shown = new Map();
  let due = false;
  node.addEventListener("scroll", later);
  const watch = new ResizeObserver(later);
  watch.observe(node);

  function later() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; draw(); });
  }

  function draw() {
    const first = Math.max(Math.floor(node.scrollTop / height) - BEYOND, 0);
    const last = Math.min(Math.ceil((node.scrollTop + node.clientHeight) / height) + BEYOND, items.length);
    const next = new Map();
    for (let number = first; number < last; number += 1) {
      const item = items[number];
      const made = shown.get(item) ?? el("div.virtual-row", { role: "listitem" }, row(item, number));
      made.style.top = `${number * height}px`;
      made.style.height = `${height}px`;
      next.set(item, made);
      if (made.parentNode !== inner) inner.append(made);
    }
    for (const [item, made] of shown) if (!next.has(item)) made.remove();
    shown = next;
    if (last >= items.length - BEYOND) wanted();
  }

  /** Show other items; rows of items that are the same stay as they are. */
  function show(next) {
    items = next;
    inner.style.height = `${items.length * height}px`;
    draw();
  }

  /** Make every row again. */
  function again() {
    for (const made of shown.values()) made.remove();
    shown = new Map();
    draw();
  }

  /** Scroll to an item unless it can be seen. */
  function reveal(number) {
    const top = number * height;
    if (top < node.scrollTop || top + height > node.scrollTop + node.clientHeight) node.scrollTop = Math.max(top - node.clientHeight / 3, 0);
    later();
  }

  return { node, show, again, reveal, close: () => watch.disconnect() };
}
