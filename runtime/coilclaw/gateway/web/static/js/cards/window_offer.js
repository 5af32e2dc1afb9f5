// A window offered with an approval: one sentence that names the tool, the arguments, the uses and the end.

import { at, get, query } from "../api.js";
import { el, mount, shown } from "../dom.js";
import { clock, counted } from "../format.js";

const USES = [1, 3, 10, 50];
const MINUTES = [1, 5, 15];
const LONGEST_VALUE = 160;

function choice(label, values, chosen, text, changed) {
  const select = el("select", { on: { change: changed } }, values.map((each) => el("option", { value: each, selected: each === chosen }, text(each))));
  return { node: el("label.choice", el("span", label), select), value: () => Number(select.value) };
}

function argument(name, value) {
  const text = JSON.stringify(value);
  const cut = text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}… (${text.length} characters)` : text;
  return [el("code", shown(name)), " = ", el("code", shown(cut))];
}

/** Arguments that a window requires, as a phrase. */
export function conditions(where) {
  const names = Object.entries(where);
  if (!names.length) return ["with ", el("strong", "any arguments")];
  return ["with ", names.map(([name, value], number) => [number ? (number === names.length - 1 ? " and " : ", ") : "", argument(name, value)])];
}

/** The offer for one call. `open(window)` is called when a person accepts it. */
export function windowOffer({ id, tool, arguments: given }, open) {
  const names = given !== null && typeof given === "object" && !Array.isArray(given) ? Object.keys(given) : [];
  const kept = new Map(names.map((name) => [name, el("input", { type: "checkbox", checked: true, on: { change: say } })]));
  const uses = choice("Uses", USES, 3, (each) => counted(each, "use"), say);
  const minutes = choice("Ends after", MINUTES, 5, (each) => `${each} min`, say);
  const sentence = el("p.sentence");
  const covered = el("p.covered.dim", { role: "status" });
  const accept = el("button.primary.open-window", { type: "button", disabled: true, on: { click: () => open(wanted()) } }, "Approve and open this window");
  let asked = 0;

  const where = () => Object.fromEntries(names.filter((name) => kept.get(name).checked).map((name) => [name, given[name]]));
  const wanted = () => ({ seconds: minutes.value() * 60, uses: uses.value(), where: where() });

  async function say() {
    const end = clock(Date.now() + minutes.value() * 60_000);
    mount(sentence, "After this call, up to ", el("strong", counted(uses.value(), "further call")), " of ", el("code", shown(tool)), " ", conditions(where()),
      " in this workspace may run without asking, until ", el("strong", end), ".");
    const mine = ++asked;
    mount(covered, "Counting past calls …");
    let text;
    try {
      const found = await get(at`/api/approvals/${id}/coverage` + query({ where: JSON.stringify(where()) }));
      text = found.calls ? `It would have covered ${found.covered} of the last ${counted(found.calls, "call")} of this tool.` : "This tool has not been called yet: it would have covered 0 calls.";
    } catch (error) {
      text = `Past calls cannot be counted: ${error.message}`;
    }
    if (mine === asked) mount(covered, shown(text));
  }

  say();
  const same = names.length
    ? el("fieldset.same", el("legend", "Only with the same"), names.map((name) => el("label", kept.get(name), " ", shown(name))))
    : null;
  return {
    node: el("div.window-offer", sentence, covered, el("div.choices", same, uses.node, minutes.node), accept),
    setReady: (ready) => { accept.disabled = !ready; },
  };
}
