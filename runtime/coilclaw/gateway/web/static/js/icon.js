// The window's icon counts what waits. Each state is a file, because the page may show no picture from anywhere else.

import { watchWaiting } from "./waiting.js";

/** The icon for a number of waiting things. */
export function iconFor(number) {
  if (!number) return "/static/icon.svg";
  return `/static/icons/waiting-${number > 9 ? "many" : number}.svg`;
}

/** Keep the icon in step. */
export function beginIcon() {
  const link = document.querySelector('link[rel="icon"]');
  watchWaiting((number) => {
    if (link.getAttribute("href") !== iconFor(number)) link.setAttribute("href", iconFor(number));
  });
}
