// What an approval request is about, as elements.
import { el } from "./dom.js";
import { members, parts, shown, text, visible } from "./text.js";

// changes shows a JSON Patch as a diff.
export function changes(patch) {
  const list = patch && patch !== "null" ? parts(patch) : null;
  if (list === null) return el("p", { class: "muted", textContent: "Not recorded." });
  if (list.length === 0) return el("p", { class: "muted", textContent: "Nothing: this is what the agent sent." });
  return el("div", { class: "diff" }, ...list.map(([, op]) => {
    const change = members(op), path = text(change, "path"), kind = text(change, "op");
    return el("div", { class: "change" },
      el("code", { textContent: visible(path || "/") + (kind === "replace" ? "" : kind === "add" ? " added" : " " + kind + "d") }),
      change.has("old") ? el("del", { textContent: shown(change.get("old")) }) : null,
      change.has("value") && kind !== "remove" ? el("ins", { textContent: shown(change.get("value")) }) : null);
  }));
}

// args shows what the tool would get: the members of tool_input, or of the data.
export function args(data) {
  const all = members(data), input = all.get("tool_input") || all.get("arguments");
  const list = parts(input && input[0] === "{" ? input : data);
  return el("dl", { class: "args" }, ...list.map(([name, value]) =>
    el("div", {}, el("dt", { textContent: visible(name) }), el("dd", { textContent: shown(value) }))));
}
