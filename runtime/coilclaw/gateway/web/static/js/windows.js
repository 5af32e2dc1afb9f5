// The open windows, each with what it lets through, the uses that are left, its end, and Revoke.

import { at, get, remove } from "./api.js";
import { conditions } from "./cards/window_offer.js";
import { decider } from "./cards/decided.js";
import { el, mount, shown } from "./dom.js";
import { ago, clock, counted } from "./format.js";
import { action, notice } from "./pieces.js";
import { listen } from "./stream.js";

const CHANGES = /^(window|call|run)\.|^reconnected$|^missed$/;

/** Make the list; `moved()` is called when it takes another height. */
export function windowList(moved) {
  const node = el("section.windows", { hidden: true, "aria-label": "Open windows" });
  let closed = false;
  let due = null;
  let end = null;
  let told = "";

  function item(window) {
    const { who, place } = decider(window.granted_by);
    const ends = window.expires_at * 1000;
    return el("li.window", { "data-window": window.id },
      el("p", el("code", shown(window.tool)), " ", conditions(window.where), " runs without asking."),
      el("p.dim", el("strong", `${window.uses_left} of ${counted(window.uses, "use")} left`), " · ends ", el("span", clock(ends)), " (", ago(ends), ") · opened by ", shown(who), ` ${place}`),
      action("Revoke", async () => {
        try {
          await remove(at`/api/windows/${window.id}`);
          notice("The window is closed.");
        } catch (error) {
          if (error.status !== 404) throw error; // Somebody else was quicker.
        }
        await read();
      }, { kind: "danger small" }));
  }

  async function read() {
    let found;
    try {
      ({ windows: found } = await get("/api/windows"));
    } catch {
      return; // The connection's state says it; the next event tries again.
    }
    clearTimeout(end);
    if (found.length) end = setTimeout(read, Math.max(found[0].expires_at * 1000 - Date.now(), 0) + 1000);
    const now = JSON.stringify(found);
    if (closed || now === told) return;
    told = now;
    node.hidden = found.length === 0;
    mount(node, el("h2", counted(found.length, "open window")), el("ul", found.map(item)));
    moved();
  }

  const unlisten = listen(({ name }) => {
    if (CHANGES.test(name)) due ??= setTimeout(() => { due = null; read(); }, 100);
  });
  read();
  return {
    node,
    close() {
      closed = true;
      clearTimeout(due);
      clearTimeout(end);
      unlisten();
    },
  };
}
