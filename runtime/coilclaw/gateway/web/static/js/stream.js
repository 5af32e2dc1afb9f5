// One event stream for the whole browser. Of all open windows one holds a lock and reads the stream; the others hear it from that one.
// A window that takes over continues behind the last event that was heard, so nothing is lost; doubles are told apart by their ids.

import { headers } from "./api.js";
import { createParser } from "../vendor/eventsource-parser/parse.js";

const CURSOR = "coilclaw.cursor";
const QUIET_MS = 40_000; // The server says something at least every 15 seconds.
const LONGEST_WAIT_MS = 15_000;

const listeners = new Set();
const watchers = new Set();
const channel = new BroadcastChannel("coilclaw.events");
let state = "connecting";
let last = null;
let stopped = false;

/** Hear every event from now on: `{name, data, id}`. Returns a function that ends it. */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Hear how the connection stands: `connecting`, `live`, `offline`. */
export function watchConnection(watcher) {
  watchers.add(watcher);
  watcher(state);
  return () => watchers.delete(watcher);
}

function become(next, tell = true) {
  if (tell) channel.postMessage({ state: next });
  if (next === state) return;
  const before = state;
  state = next;
  for (const watcher of watchers) watcher(next);
  // What happened while nothing could be heard is read again from the server.
  if (next === "live" && before === "offline") hear({ name: "reconnected", data: {}, id: null });
}

function hear(event) {
  if (event.id) last = event.id;
  for (const listener of [...listeners]) {
    try {
      listener(event);
    } catch (error) {
      console.error(error);
    }
  }
}

channel.addEventListener("message", ({ data }) => {
  if (data.event) hear(data.event);
  if (data.state) become(data.state, false);
  if (data.hello && leading) channel.postMessage({ state });
});

let leading = false;

/** Begin to hear events: as the window that reads, or as one that is told. */
export function begin() {
  stopped = false;
  channel.postMessage({ hello: true });
  navigator.locks.request("coilclaw.events", async () => {
    leading = true;
    await read();
    leading = false;
  });
}

/** Stop, when there is no session any more. */
export function end() {
  stopped = true;
}

async function read() {
  let wait = 500;
  while (!stopped) {
    const control = new AbortController();
    let quiet = setTimeout(() => control.abort(), QUIET_MS);
    try {
      const from = last ?? sessionStorage.getItem(CURSOR);
      const response = await fetch("/api/events", {
        headers: headers({ Accept: "text/event-stream", ...(from ? { "Last-Event-ID": from } : {}) }),
        credentials: "same-origin",
        cache: "no-store",
        signal: control.signal,
      });
      if (response.status === 400) {
        sessionStorage.removeItem(CURSOR); // A log that was begun anew does not know it.
        last = null;
      }
      if (response.status === 401 || response.status === 403) return become("offline");
      if (!response.ok) throw new Error(`the stream answered ${response.status}`);
      become("live");
      wait = 500;
      const parser = createParser({
        onEvent: ({ event, data, id }) => {
          const made = { name: event ?? "message", data: JSON.parse(data), id: id ?? null };
          if (id) sessionStorage.setItem(CURSOR, id);
          channel.postMessage({ event: made });
          hear(made);
        },
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        clearTimeout(quiet);
        quiet = setTimeout(() => control.abort(), QUIET_MS);
        parser.feed(value);
      }
    } catch {
      // Shown as offline, and tried again.
    } finally {
      clearTimeout(quiet);
    }
    become("offline");
    await new Promise((resolve) => setTimeout(resolve, wait + Math.random() * 300));
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }
}
