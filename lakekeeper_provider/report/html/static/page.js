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

// Acts go to Airflow's own REST, with the reader's own login; Airflow checks that he may trigger the DAG.
const acts = document.querySelector(".acts");
if (acts) {
  const dialog = acts.querySelector("dialog");
  const answer = dialog.querySelector(".answer");
  const confirm = dialog.querySelector("[data-do]");
  const leave = dialog.querySelector("[data-leave]");
  let wanted = null;
  for (const button of acts.querySelectorAll("button[data-act]")) {
    button.addEventListener("click", () => {
      wanted = { ...button.dataset };
      document.getElementById("question").textContent = wanted.says;
      answer.textContent = "";
      confirm.hidden = false;
      leave.textContent = "Cancel";
      dialog.showModal();
    });
  }
  confirm.addEventListener("click", async (event) => {
    event.preventDefault();
    const asked = wanted;
    const tell = (...parts) => {
      if (wanted === asked) answer.replaceChildren(...parts);
    };
    confirm.hidden = true;
    leave.textContent = "Close";
    tell("Triggering ...");
    const conf = { table: wanted.table, action: wanted.act, dry_run: false };
    if (wanted.run) conf.run_id = wanted.run;
    const { base, dag } = acts.dataset;
    const response = await fetch(`${base}/api/v2/dags/${encodeURIComponent(dag)}/dagRuns`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ logical_date: null, conf }),
    }).catch((error) => ({ ok: false, status: 0, json: async () => ({ detail: String(error) }) }));
    const body = (await response.json().catch(() => null)) ?? {};
    if (!response.ok) {
      const detail = typeof body.detail === "string" ? body.detail : JSON.stringify(body.detail ?? "");
      tell(`Airflow refused it (${response.status}): ${detail}`);
      return;
    }
    const link = document.createElement("a");
    link.href = `${base}/dags/${encodeURIComponent(dag)}/runs/${encodeURIComponent(body.dag_run_id)}`;
    link.textContent = body.dag_run_id;
    link.addEventListener("click", (click) => {
      click.preventDefault();
      openOutside(link.href);
    });
    tell("Triggered: ", link, ". This page shows what it has done some seconds after its end: reload it then.");
  });
}
