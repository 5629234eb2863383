"use strict";
(() => {
  const filters = document.getElementById("filters");
  const rows = [...document.querySelectorAll(".index tbody tr")];
  const articles = new Map([...document.querySelectorAll("article")].map((a) => [a.dataset.name, a]));

  const show = () => {
    const wanted = Object.fromEntries(new FormData(filters));
    const name = wanted.name.trim().toLowerCase();
    delete wanted.name;
    let count = 0;
    for (const row of rows) {
      const fits = row.dataset.name.includes(name)
        && Object.entries(wanted).every(([key, value]) => !value || row.dataset[key] === value);
      row.hidden = articles.get(row.dataset.name).hidden = !fits;
      count += fits;
    }
    document.getElementById("count").textContent = `${count} of ${rows.length} shown`;
  };
  filters.hidden = false;
  filters.addEventListener("input", show);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(show));
  show();

  const open = () => {
    const article = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = article && article.matches("article") && article.querySelector("details");
    if (!details) return;
    article.hidden = false;
    details.open = true;
    details.querySelector("summary").focus({ preventScroll: true });
    article.scrollIntoView();
  };
  addEventListener("hashchange", open);
  document.querySelectorAll(".index a").forEach((link) => link.addEventListener("click", () => setTimeout(open)));
  open();

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const written = (text) => JSON.stringify(text);
  const told = (event) => ({
    tool_call_start: () => `call ${event.index} starts: ${event.name} (${event.id})`,
    tool_call_delta: () => `arguments of call ${event.index}: ${written(event.arguments)}`,
    tool_call_end: () => `call ${event.index} ends`,
  }[event.type] || (() => `${event.type}: ${written(event.text)}`))();

  const stepRow = (step) => {
    const row = element("tr");
    const next = step.next_state !== step.state && step.state ? ` → ${step.next_state}` : "";
    row.append(element("td", String(step.offset)), element("td", (step.state || "(end)") + next));
    const taken = element("td");
    taken.append(element("code", written(step.consumed)));
    const events = element("td");
    step.events.forEach((event) => events.append(element("div", told(event))));
    step.problems.forEach((problem) => events.append(element("div", `${problem.kind}: ${problem.message}`, "no")));
    row.append(taken, events);
    return row;
  };

  const fill = (result, found) => {
    result.append(element("h5", "Message"), element("pre", JSON.stringify(found.message, null, 2)));
    const list = element("ul");
    found.problems.forEach((problem) => list.append(element("li", `${problem.kind} at ${problem.offset}: ${problem.message}`, "no")));
    result.append(element("p", found.problems.length ? "Problems" : "No problems", found.problems.length ? "" : "yes"), list);
    const table = element("table");
    const head = element("tr");
    ["Offset", "State", "Takes", "Tells"].forEach((title) => head.append(element("th", title)));
    table.append(element("thead"), element("tbody"));
    table.tHead.append(head);
    found.steps.forEach((step) => table.tBodies[0].append(stepRow(step)));
    result.append(element("h5", "Steps"), table);
    if (found.left_out) result.append(element("p", `${found.left_out} more steps`));
  };

  document.querySelectorAll("form.try").forEach((form) => {
    const result = form.querySelector(".result");
    form.querySelector(".example").addEventListener("click", () => {
      form.elements.text.value = form.dataset.output;
      form.elements.tools.value = document.querySelector("main").dataset.tools;
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const { text, tools, thinking } = form.elements;
      const asked = { name: form.dataset.name, text: text.value, tools: tools.value, thinking: thinking.checked };
      result.replaceChildren(element("p", "parsing …"));
      try {
        const answer = await fetch("/parse", {
          method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked),
        });
        const found = await answer.json();
        result.replaceChildren();
        if (answer.ok) fill(result, found);
        else result.append(element("p", found.error, "no"));
      } catch (error) {
        result.replaceChildren(element("p", `no answer: is turnspec report --serve still running? (${error.message})`, "no"));
      }
    });
  });
})();
