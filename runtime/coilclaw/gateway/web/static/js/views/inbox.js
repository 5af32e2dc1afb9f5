// The Inbox: one list of everything that waits for a person, with the open windows on top.

import { quarantineCard } from "../cards/quarantine.js";
import { runSheet } from "../cards/sheet.js";
import { unknownCard } from "../cards/unknown.js";
import { el, mount, shown } from "../dom.js";
import { notificationSwitch } from "../notifications.js";
import { empty, heading } from "../pieces.js";
import { readWaiting, watchWaiting } from "../waiting.js";
import { windowList } from "../windows.js";

/** A card for a kind that this version does not know. */
function otherCard(item) {
  return { node: el("article.card", el("h3", shown(item.title))), update: () => {}, close: () => {}, unsettle: () => {}, isOver: () => false };
}

const KINDS = {
  approval: { key: (item) => item.run_id, make: (item) => runSheet(item.run_id) },
  quarantine: { key: (item) => item.path, make: quarantineCard },
  unknown: { key: (item) => item.receipt, make: unknownCard },
};
const OTHER = { key: (item) => item.id, make: otherCard };

export async function inboxView() {
  const entries = new Map();
  const list = el("div.waiting");
  const rest = el("div.rest");
  const clear = el("button.plain.clear", { type: "button", hidden: true, on: { click: clearOver } }, "Clear what is decided");
  const windows = windowList(unsettle);
  const node = el("div.inbox",
    heading("Inbox", { about: "Everything that waits for a person. Nothing here happens until you decide.", actions: [clear, notificationSwitch()] }),
    windows.node, list, rest);

  function unsettle() {
    for (const entry of entries.values()) entry.unsettle();
  }

  function refresh() {
    mount(rest, entries.size ? null : empty("Nothing waits for you", "Calls that need approval, quarantined tools and unknown outcomes appear here by themselves."));
    clear.hidden = ![...entries.values()].some((entry) => entry.isOver());
  }

  function clearOver() {
    for (const [key, entry] of entries) {
      if (!entry.isOver()) continue;
      entry.close();
      entry.node.remove();
      entries.delete(key);
    }
    unsettle();
    refresh();
  }

  /** New things come last, so that nothing moves under somebody's hand; what no longer waits stays and says why. */
  function update(items) {
    const groups = new Map();
    for (const item of items) {
      const kind = KINDS[item.kind] ?? OTHER;
      const key = `${item.kind} ${kind.key(item)}`;
      if (!groups.has(key)) groups.set(key, { kind, items: [] });
      groups.get(key).items.push(item);
    }
    for (const [key, { kind, items: found }] of groups) {
      // Whatever waits again after it was decided is a new card; the old one stays as it is.
      if (entries.get(key)?.isOver() && kind !== KINDS.approval) {
        entries.set(`${key} until ${performance.now()}`, entries.get(key));
        entries.delete(key);
      }
      if (!entries.has(key)) {
        const made = kind.make(found[0]);
        entries.set(key, made);
        list.append(made.node);
      }
      entries.get(key).update(found);
    }
    for (const [key, entry] of entries) if (!groups.has(key)) entry.update([]);
    refresh();
  }

  const unwatch = watchWaiting((_, items) => update(items));
  await readWaiting();
  refresh();
  const watching = new MutationObserver(refreshClear);
  watching.observe(list, { subtree: true, attributes: true, attributeFilter: ["class"] });
  function refreshClear() {
    clear.hidden = ![...entries.values()].some((entry) => entry.isOver());
  }

  return {
    title: "Inbox", node,
    close() {
      watching.disconnect();
      unwatch();
      windows.close();
      for (const entry of entries.values()) entry.close();
    },
  };
}
