// Freezing: what is frozen is said across the page; who may freeze has the button.
import { $, call, toast } from "./dom.js";
import { stamp, visible } from "./text.js";

const every = 10000; // ms between two looks at what is frozen

const name = (order) => order.agent ? "agent " + order.agent : order.session_id ? "session " + order.session_id : "everything";

const sentence = (order) => name(order) + (order.by ? " by " + order.by : "") + " at " + stamp(order.time) + ": " + order.reason;

export async function showFrozen() {
  let answer;
  try {
    answer = JSON.parse(await call("/v1/freeze"));
  } catch { return; } // the connection's state says so, or this router freezes nothing
  $("freeze-open").hidden = !answer.may_freeze;
  $("frozen").hidden = answer.orders.length === 0;
  $("frozen").textContent = "Frozen: " + visible(answer.orders.map(sentence).join(" · ")) + " (hookctl thaw lifts it)";
}

function scope() {
  const target = $("freeze-target").value.trim();
  switch ($("freeze-scope").value) {
    case "agent": return { agent: target };
    case "session": return { session_id: target };
    default: return { all: true };
  }
}

function showTarget() {
  const all = $("freeze-scope").value === "all";
  $("freeze-target-label").hidden = all;
  $("freeze-target").required = !all;
}

$("freeze-open").addEventListener("click", () => {
  $("freeze-outcome").hidden = true;
  showTarget();
  $("freeze").showModal();
});
$("freeze-scope").addEventListener("change", showTarget);
$("freeze-close").addEventListener("click", () => $("freeze").close());
$("freeze-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  $("freeze-do").disabled = true;
  try {
    const body = { ...scope(), reason: $("freeze-reason").value.trim() };
    const order = JSON.parse(await call("/v1/freeze", { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }));
    $("freeze").close();
    $("freeze-form").reset();
    toast("Frozen: " + visible(name(order)));
  } catch (error) {
    $("freeze-outcome").textContent = visible(error.message);
    $("freeze-outcome").hidden = false;
  }
  $("freeze-do").disabled = false;
  showFrozen();
});

setInterval(() => { if (!document.hidden) showFrozen(); }, every);
