// Markdown of a model, built as elements from the parser's tokens: no HTML is ever parsed. A sanitizer goes over the result once more.

import MarkdownIt from "../vendor/markdown-it/markdown-it.esm.min.mjs";
import DOMPurify from "../vendor/dompurify/purify.es.mjs";
import { el, safeHref, shown } from "./dom.js";

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// Whether a target is safe is decided where the link is made; a link that is not becomes its text there.
parser.validateLink = () => true;

const BLOCKS = {
  paragraph_open: "p", blockquote_open: "blockquote", bullet_list_open: "ul", ordered_list_open: "ol", list_item_open: "li",
  table_open: "table", thead_open: "thead", tbody_open: "tbody", tr_open: "tr", th_open: "th", td_open: "td",
  em_open: "em", strong_open: "strong", s_open: "del",
};
const ALLOWED = {
  ALLOWED_TAGS: "a blockquote br code del div em h3 h4 h5 h6 hr li ol p pre span strong table tbody td th thead tr ul".split(" "),
  ALLOWED_ATTR: ["class", "dir", "href", "rel", "start", "target", "title", "tabindex"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  IN_PLACE: true,
  // The page's policy forbids Trusted Types policies; a tree that is cleaned in place needs none.
  TRUSTED_TYPES_POLICY: null,
};

/** A text in Markdown as a tree of elements. */
export function markdown(text) {
  const root = el("div.markdown", { dir: "auto" });
  build(root, parser.parse(text, {}));
  DOMPurify.sanitize(root, ALLOWED);
  return root;
}

function build(root, tokens) {
  const open = [root];
  for (const token of tokens) {
    const top = open[open.length - 1];
    if (token.type === "inline") build(top, token.children);
    else if (token.nesting === -1) open.pop();
    else if (token.nesting === 1) {
      const made = opened(token);
      if (token.hidden) open.push(top); // A paragraph of a tight list.
      else {
        top.append(made.scroller ?? made.node);
        open.push(made.node);
      }
    } else top.append(...leaf(token));
  }
}

function opened(token) {
  if (token.type === "heading_open") return { node: el(`h${Math.min(6, Number(token.tag.slice(1)) + 2)}`) };
  if (token.type === "link_open") return { node: link(token) };
  if (token.type === "table_open") {
    const node = el("table");
    return { node, scroller: el("div.wide", { tabindex: "0" }, node) };
  }
  const start = token.type === "ordered_list_open" ? token.attrGet("start") : null;
  return { node: el(BLOCKS[token.type] ?? "span", { start }) };
}

/** A link says where it goes; one that goes nowhere safe is its text. */
function link(token) {
  const target = token.attrGet("href") ?? "";
  const inside = ofThisApp(target);
  if (inside !== null) return el("a", { href: inside });
  const safe = /^[a-z]+:/i.test(target) ? safeHref(target) : null;
  if (safe === null) return el("span.no-link", { title: `not a link that can be opened: ${target.slice(0, 200)}` });
  return el("a.outside", { href: safe, target: "_blank", rel: "noopener noreferrer", title: safe });
}

/** The path of a view, without a fragment: that is where one-time codes travel. */
function ofThisApp(target) {
  if (!/^\/(?![/\\])/.test(target)) return null;
  const url = new URL(target, location.origin);
  return url.origin === location.origin && url.pathname.startsWith("/app/") ? url.pathname + url.search : null;
}

function leaf(token) {
  switch (token.type) {
    case "text":
    case "text_special":
      return [shown(token.content)];
    case "code_inline":
      return [el("code", shown(token.content))];
    case "fence":
    case "code_block":
      return [el("pre.code", { tabindex: "0" }, shown(token.content.replace(/\n$/, ""), { lines: true }))];
    case "softbreak":
    case "hardbreak":
      return [el("br")];
    case "hr":
      return [el("hr")];
    case "image":
      // A picture would be a request to somewhere; its words are enough.
      return [el("span.picture", { title: token.attrGet("src")?.slice(0, 200) }, "[picture: ", shown(token.content || "without a name"), "]")];
    default:
      return token.content ? [shown(token.content)] : [];
  }
}
