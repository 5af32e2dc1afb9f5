// A form for the arguments of a tool, made from its schema; whatever a field cannot express is written as JSON.

import { el, mount, shown } from "./dom.js";

const PLAIN = new Set(["string", "integer", "number", "boolean"]);

function kindOf(schema) {
  const choices = schema?.anyOf?.filter((each) => each?.type !== "null");
  if (choices?.length === 1) return kindOf(choices[0]);
  if (Array.isArray(schema?.enum)) return "enum";
  return PLAIN.has(schema?.type) ? schema.type : "json";
}

function field(name, schema, needed) {
  const kind = kindOf(schema);
  const id = `argument-${name}`;
  const choices = kind === "boolean" ? [true, false] : kind === "enum" ? (schema.enum ?? schema.anyOf.find((each) => each.enum).enum) : null;
  const input = choices
    ? el("select", { id }, el("option", { value: "" }, "not given"), choices.map((each, number) => el("option", { value: String(number) }, shown(String(each)).textContent)))
    : kind === "string" || kind === "json" ? el("textarea", { id, rows: 1, spellcheck: "false", placeholder: kind === "json" ? "JSON" : "" })
      : el("input", { id, inputmode: "decimal", autocomplete: "off" });
  function read() {
    if (input.value === "" && !(kind === "string" && needed)) return undefined;
    if (choices) return choices[Number(input.value)];
    if (kind === "string") return input.value;
    try {
      return JSON.parse(input.value);
    } catch {
      throw new Error(`${name}: write ${kind === "json" ? "JSON" : `a ${kind}`}`);
    }
  }
  return { name, read, node: [el("label", { for: id }, shown(name), needed ? " *" : "", schema?.description ? el("span.dim", " ", shown(schema.description)) : null), input] };
}

/** Make the form; `value()` gives the arguments, or throws an error that says what to mend. */
export function argumentForm(schema) {
  const needed = new Set(schema?.required ?? []);
  const fields = Object.entries(schema?.properties ?? {}).map(([name, each]) => field(name, each, needed.has(name)));
  const text = el("textarea.mono", { id: "arguments-json", rows: 6, spellcheck: "false" });
  const place = el("div.argument-fields");
  const button = el("button.plain.small", { type: "button", on: { click: () => { asJson = !asJson; draw(); } } });
  let asJson = false;
  const given = () => Object.fromEntries(fields.map((each) => [each.name, each.read()]).filter(([, value]) => value !== undefined));
  function draw() {
    if (asJson) {
      try { text.value = JSON.stringify(given(), null, 2); } catch { text.value = "{}"; }
    }
    mount(button, asJson ? "As a form" : "As JSON");
    mount(place, asJson ? [el("label", { for: "arguments-json" }, "Arguments as JSON"), text] : fields.length ? fields.map((each) => each.node) : el("p.dim", "It takes no arguments."));
  }
  function value() {
    if (!asJson) return given();
    try {
      return JSON.parse(text.value);
    } catch {
      throw new Error("the arguments are not JSON");
    }
  }
  draw();
  return { node: el("div", place, button), value };
}
