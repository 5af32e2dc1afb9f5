// What became of something that waited: who decided it, when and where.

import { el, shown } from "../dom.js";
import { ago, clock } from "../format.js";

const PLACES = [["session ", "in the web app"], ["token ", "over the API"]];

/** Who a decision was recorded under, and where they made it. */
export function decider(name) {
  for (const [prefix, place] of PLACES) if (name.startsWith(prefix)) return { who: name.slice(prefix.length), place };
  return { who: name, place: "outside the web app" };
}

/** Whether a status means that the call may run. */
export const isApproved = (status) => status === "granted" || status === "consumed";

/** A sentence about a decision. `here` says that it was made in this window. */
export function outcome({ status, decided_by: by, decided_at: when }, here) {
  const word = isApproved(status) ? "Approved" : status === "denied" ? "Denied" : "Expired";
  const tone = isApproved(status) ? "good" : "bad";
  if (!by) return el("p.outcome", { class: tone }, el("strong", word), when ? [" · ", clock(when)] : null);
  const { who, place } = decider(by);
  return el("p.outcome", { class: tone }, el("strong", word), " by ", shown(who), ` ${here ? "in this window" : place}`,
    when ? [" · ", el("span", clock(when)), " (", ago(when), ")"] : null);
}
