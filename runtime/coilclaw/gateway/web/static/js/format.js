// Times, durations, counts and sizes as a person reads them.

import { el } from "./dom.js";

/** How long ago something happened, with the exact moment on hover. */
export function ago(when) {
  const moment = new Date(when);
  const node = el("time", { datetime: moment.toISOString(), title: moment.toLocaleString() }, sinceText(moment));
  node.dataset.ago = String(moment.getTime());
  return node;
}

function sinceText(moment) {
  const seconds = Math.round((Date.now() - moment.getTime()) / 1000);
  if (seconds < 0) return `in ${span(-seconds)}`;
  if (seconds < 5) return "now";
  return `${span(seconds)} ago`;
}

function span(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

setInterval(() => {
  for (const node of document.querySelectorAll("time[data-ago]")) {
    const text = sinceText(new Date(Number(node.dataset.ago)));
    if (node.textContent !== text) node.textContent = text;
  }
}, 5000);

/** A clock time with its date when that is another day. */
export function clock(when) {
  const moment = new Date(when);
  const isToday = moment.toDateString() === new Date().toDateString();
  return moment.toLocaleString([], isToday ? { timeStyle: "medium" } : { dateStyle: "short", timeStyle: "medium" });
}

/** A duration in milliseconds. */
export function duration(ms) {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** `3 calls`, `1 call`. */
export function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
