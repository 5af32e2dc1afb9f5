// How many things wait for a person: the number in the navigation, the title and the icon.

import { get } from "./api.js";
import { listen } from "./stream.js";

const CHANGES = /^(approval|run|window|tool)\.|^reconnected$|^missed$|^pending_change/;
const watchers = new Set();
let items = null;
let reading = null;
let again = false;

/** Hear how many items wait, now and whenever that changes. */
export function watchWaiting(watcher) {
  watchers.add(watcher);
  if (items !== null) watcher(items.length, items);
  return () => watchers.delete(watcher);
}

/** Read the inbox again. */
export async function readWaiting() {
  if (reading) {
    again = true;
    return reading;
  }
  reading = (async () => {
    do {
      again = false;
      try {
        ({ items } = await get("/api/inbox"));
        for (const watcher of watchers) watcher(items.length, items);
      } catch {
        return; // The connection's state says it; the next event tries again.
      }
    } while (again);
  })().finally(() => { reading = null; });
  return reading;
}

/** Begin to watch. */
export function beginWaiting() {
  let due = null;
  listen(({ name }) => {
    if (!CHANGES.test(name) || due) return;
    due = setTimeout(() => { due = null; readWaiting(); }, 60);
  });
  return readWaiting();
}
