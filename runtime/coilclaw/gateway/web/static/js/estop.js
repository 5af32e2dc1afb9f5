// The emergency stop: a banner on every view while it is set, and the buttons that set and clear it.

import { get, post } from "./api.js";
import { el, mount, shown } from "./dom.js";
import { clock } from "./format.js";
import { action } from "./pieces.js";
import { listen } from "./stream.js";

const CHANGES = /^estop\.|^reconnected$|^missed$/;
const watchers = new Set();
let stop = { set: false };

async function read() {
  try {
    become((await get("/status")).estop);
  } catch {
    // The connection's state says it; the next event tries again.
  }
}

function become(next) {
  stop = next;
  for (const watcher of watchers) watcher(stop);
}

/** Hear how the emergency stop stands, now and whenever it changes. */
export function watchStop(watcher) {
  watchers.add(watcher);
  watcher(stop);
  return () => watchers.delete(watcher);
}

async function change(set, reason) {
  become((await post("/estop", { set, reason: reason || null })).estop);
}

/** The banner; empty while nothing is stopped. */
export function stopBanner() {
  const node = el("div.stop-banner", { role: "alert", hidden: true });
  watchStop((now) => {
    node.hidden = !now.set;
    mount(node, now.set ? [el("strong", "Emergency stop"), el("span", " No tool runs. Set by ", shown(now.by ?? "?"), now.at ? ` at ${clock(now.at)}` : "", now.reason ? [": ", shown(now.reason)] : ""),
      el("a", { href: "/app/status" }, "Clear it in Status")] : null);
  });
  listen(({ name }) => { if (CHANGES.test(name)) read(); });
  read();
  return node;
}

/** The buttons: setting it is one step, clearing it asks once. */
export function stopButtons() {
  const node = el("section.stop-card", { "aria-label": "Emergency stop" });
  function draw(now) {
    const reason = el("input", { id: "stop-reason", maxlength: 500, placeholder: "why (optional)", autocomplete: "off" });
    if (!now.set) {
      mount(node, el("h2", "Emergency stop"), el("p", "Stops every tool at once, running ones too. It stays until a person clears it."),
        el("div.actions", el("label", { for: "stop-reason" }, "Reason"), reason, action("Stop everything", () => change(true, reason.value), { kind: "stop" })));
      return;
    }
    const asked = el("div.actions", action("Clear the stop", async () => {
      mount(asked, el("span", "Tools may run again?"), action("Yes, clear it", () => change(false, ""), { kind: "danger" }), action("Keep it", async () => draw(stop)));
    }));
    mount(node, el("h2", "Everything is stopped"), el("p", "Set by ", shown(now.by ?? "?"), now.reason ? [": ", shown(now.reason)] : ""), asked);
  }
  const close = watchStop(draw);
  return { node, close };
}
