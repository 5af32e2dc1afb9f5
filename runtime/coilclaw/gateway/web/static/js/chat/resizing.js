// The edge of the rail: dragged with a pointer or moved with keys, and remembered.

import { el } from "../dom.js";

const WIDTH = "coilclaw.rail.width";
const LEAST = 280;
const MOST = 760;
const STEP = 24;

/** The handle that sets the width of the rail. */
export function resizing() {
  const handle = el("div.resize", {
    role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": "Width of the chat",
    "aria-valuemin": LEAST, "aria-valuemax": MOST,
  });

  function width() {
    return handle.parentElement?.getBoundingClientRect().width || Number(localStorage.getItem(WIDTH)) || 380;
  }

  function set(wanted, { keep = true } = {}) {
    const most = Math.min(MOST, Math.max(LEAST, innerWidth * 0.5));
    const pixels = Math.round(Math.min(most, Math.max(LEAST, wanted)));
    document.documentElement.style.setProperty("--rail", `${pixels}px`);
    handle.setAttribute("aria-valuenow", String(pixels));
    if (keep) localStorage.setItem(WIDTH, String(pixels));
  }

  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => {
    if (handle.hasPointerCapture(event.pointerId)) set(innerWidth - event.clientX);
  });
  handle.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: width() + STEP, ArrowRight: width() - STEP, Home: LEAST, End: MOST }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set(to);
  });
  const kept = Number(localStorage.getItem(WIDTH));
  if (kept) set(kept, { keep: false });
  else handle.setAttribute("aria-valuenow", "380");
  return handle;
}
