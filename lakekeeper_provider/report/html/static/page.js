// What a page does in the browser: times of the reader's zone, links that leave the frame, the plot, and acts.
"use strict";

for (const each of document.querySelectorAll("time[datetime]")) {
  const at = new Date(each.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  each.title = each.textContent;
  each.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

// Airflow shows a plugin in a frame that may not navigate the page around it; a link of that page itself may.
function openOutside(address) {
  if (window.parent === window) {
    location.href = address;
    return;
  }
  const link = parent.document.createElement("a");
  link.href = address;
  parent.document.body.append(link);
  link.click();
  link.remove();
}

for (const link of document.querySelectorAll("a[data-outside]")) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || window.parent === window) return;
    event.preventDefault();
    openOutside(link.href);
  });
}

function plot() {
  const place = document.getElementById("plot");
  const source = document.getElementById("points");
  if (!place || !source || typeof uPlot === "undefined") return;
  const points = JSON.parse(source.textContent);
  if (!points.at.length) {
    place.textContent = "No figures yet.";
    return;
  }
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const verbs = { a: "analysed", c: "compacted", r: "rolled back", d: "cleaned up" };
  const changes = points.marks.map(([letter], i) => (letter === "a" ? null : points.files[i]));
  const units = ["B", "KB", "MB", "GB", "TB"];
  const size = (value) => {
    if (value == null) return "-";
    let unit = 0;
    while (value >= 1000 && unit < units.length - 1) {
      value /= 1024;
      unit += 1;
    }
    return `${value.toFixed(unit ? 1 : 0)} ${units[unit]}`;
  };
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line") }, ticks: { stroke: colour("--line") } };
  const count = (value) => (value == null ? "-" : value.toLocaleString());
  const event = (_, __, ___, i) => {
    if (i == null) return "-";
    const [letter, run] = points.marks[i];
    return `${verbs[letter] ?? letter}${run ? `, run ${run}` : ""}`;
  };
  const options = {
    width: place.clientWidth || 800,
    height: 280,
    scales: { files: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] }, bytes: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
    axes: [
      axis,
      { ...axis, scale: "files", label: "files", size: 70, values: (_, ticks) => ticks.map(count) },
      { ...axis, scale: "bytes", side: 1, label: "bytes", size: 80, grid: { show: false }, values: (_, ticks) => ticks.map(size) },
    ],
    series: [
      { label: "Time" },
      { label: "Files", scale: "files", stroke: colour("--mark"), width: 2, value: (_, value) => count(value), paths: uPlot.paths.stepped({ align: 1 }) },
      { label: "Bytes", scale: "bytes", stroke: colour("--quiet"), width: 1, dash: [4, 4], value: (_, value) => size(value), paths: uPlot.paths.stepped({ align: 1 }) },
      { label: "Job", scale: "files", stroke: colour("--bad"), paths: () => null, points: { show: true, size: 9, fill: colour("--page"), width: 2 }, value: event },
    ],
  };
  const chart = new uPlot(options, [points.at, points.files, points.bytes, changes], place);
  addEventListener("resize", () => chart.setSize({ width: place.clientWidth, height: 280 }));
}
plot();

// A dialog of a frame lets Tab go on to the page around it: here it stays among what can be pressed.
function keepFocus(dialog) {
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Tab") return;
    event.preventDefault();
    const within = [...dialog.querySelectorAll("a[href], button")].filter((each) => !each.hidden);
    const place = within.indexOf(document.activeElement);
    const next = place + (event.shiftKey ? -1 : 1);
    within[place < 0 ? 0 : (next + within.length) % within.length]?.focus();
  });
}

async function ask(address, options) {
  const failed = (error) => ({ ok: false, status: 0, json: async () => ({ detail: String(error) }) });
  const response = await fetch(address, options).catch(failed);
  const body = (await response.json().catch(() => null)) ?? {};
  return { ok: response.ok, status: response.status, body };
}

// The DAG by which a person acts. Airflow's own REST is asked, with the reader's own login: it checks his rights.
class OnDemand {
  constructor({ base, dag }) {
    this.page = `${base}/dags/${encodeURIComponent(dag)}/runs`;
    this.runs = `${base}/api/v2/dags/${encodeURIComponent(dag)}/dagRuns`;
  }

  trigger(conf) {
    const headers = { "Content-Type": "application/json" };
    return ask(this.runs, { method: "POST", headers, body: JSON.stringify({ logical_date: null, conf }) });
  }

  async unended() {
    const { ok, body } = await ask(`${this.runs}?state=running&state=queued&limit=1`);
    return ok ? body.dag_runs?.[0]?.dag_run_id : undefined;
  }

  async state(run) {
    const { ok, body } = await ask(`${this.runs}/${encodeURIComponent(run)}`);
    return ok ? body.state : undefined;
  }

  link(run) {
    const link = document.createElement("a");
    link.href = `${this.page}/${encodeURIComponent(run)}`;
    link.textContent = run;
    link.addEventListener("click", (click) => {
      click.preventDefault();
      openOutside(link.href);
    });
    return link;
  }
}

const after = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
const ENDED = ["success", "failed"];
// What a job has told is read every ten seconds.
const UNTIL_READ = 11;

const acts = document.querySelector(".acts");
if (acts) {
  const dag = new OnDemand(acts.dataset);
  const dialog = acts.querySelector("dialog");
  const others = dialog.querySelector(".others");
  const answer = dialog.querySelector(".answer");
  const confirm = dialog.querySelector("[data-do]");
  const leave = dialog.querySelector("[data-leave]");
  let wanted = null;
  keepFocus(dialog);

  const question = async (asked) => {
    wanted = asked;
    document.getElementById("question").textContent = asked.says;
    others.replaceChildren();
    answer.replaceChildren();
    confirm.textContent = asked.does;
    confirm.hidden = false;
    leave.textContent = "Cancel";
    dialog.showModal();
    const run = await dag.unended();
    if (run && wanted === asked) others.replaceChildren("A run of this DAG has not ended yet: ", dag.link(run));
  };

  const follow = async (run, tell) => {
    let state;
    while (!ENDED.includes(state)) {
      await after(3);
      state = (await dag.state(run)) ?? state;
      if (state) tell("Triggered: ", dag.link(run), ` (${state})`);
    }
    return state;
  };

  const carryOut = async (asked) => {
    const tell = (...parts) => {
      if (wanted === asked) answer.replaceChildren(...parts);
    };
    confirm.hidden = true;
    leave.textContent = "Close";
    leave.focus();
    others.replaceChildren();
    tell("Triggering ...");
    const conf = { table: asked.table, action: asked.act, dry_run: false };
    if (asked.run) conf.run_id = asked.run;
    const { ok, status, body } = await dag.trigger(conf);
    if (!ok) {
      const detail = typeof body.detail === "string" ? body.detail : JSON.stringify(body.detail ?? "");
      tell(`Airflow refused it (${status}): ${detail}`);
      return;
    }
    tell("Triggered: ", dag.link(body.dag_run_id));
    const state = await follow(body.dag_run_id, tell);
    if (state === "failed") {
      tell("Triggered: ", dag.link(body.dag_run_id), " (failed): its log says why.");
      return;
    }
    tell("Triggered: ", dag.link(body.dag_run_id), ` (${state}). This page is read again in some seconds.`);
    await after(UNTIL_READ);
    // Another question that was opened meanwhile stays.
    if (wanted === asked || !dialog.open) location.reload();
  };

  for (const button of acts.querySelectorAll("button[data-act]")) {
    button.addEventListener("click", () => question({ ...button.dataset }));
  }
  confirm.addEventListener("click", (event) => {
    event.preventDefault();
    carryOut(wanted);
  });
}
