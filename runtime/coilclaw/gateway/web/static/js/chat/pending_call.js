// A call that waits for a person, in the chat.

import { el, shown } from "../dom.js";

/** The line of a call that needs a decision. */
export function pendingCall(call) {
  const node = el("li.ledger.asks", el("span.tool", shown(call.tool ?? "a tool")), el("span.outcome", "needs approval"),
    el("a", { href: "/app/inbox" }, "Decide in the Inbox"));
  return { node };
}
