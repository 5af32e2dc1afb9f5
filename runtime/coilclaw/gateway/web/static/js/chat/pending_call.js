// A call that waits for a person, in the chat: the same card as in the Inbox.

import { at, get } from "../api.js";
import { approvalCard } from "../cards/approval.js";
import { el, mount, shown } from "../dom.js";

/** The card of a call that needs a decision; until it is read, and if it cannot be, a line that leads to the Inbox. */
export function pendingCall(call) {
  const node = el("li.asking", el("div.ledger.asks", el("span.tool", shown(call.tool ?? "a tool")), el("span.outcome", "needs approval"),
    el("a", { href: "/app/inbox" }, "Decide in the Inbox")));
  let card = null;
  let closed = false;
  get(at`/api/approvals/${call.approval_id}`).then((approval) => {
    if (closed) return;
    card = approvalCard(approval, { compact: true });
    mount(node, card.node);
  }, () => {}); // The line stays.
  return { node, close: () => { closed = true; card?.close(); } };
}
