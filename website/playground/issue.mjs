/** What an issue needs to say of a template, and of an output that is read wrongly. */

import { $, made } from "./common.mjs";
import { showFile } from "./panels.mjs";

/** A link that says more is refused. */
const LONGEST_REPORT = 6000;

export function issueText() {
  const { facts, judgement, rungs, done, parsed } = made;
  const lines = [
    "### Versions",
    "",
    `- playground of turnspec ${document.body.dataset.version ?? ""}`,
  ];
  lines.push(`- ${navigator.userAgent}`, "", "### Format", "");
  if (facts.template)
    lines.push(`- template: ${facts.template}`, `- fingerprint: ${facts.fingerprint}`);
  for (const problem of done?.problems ?? []) lines.push(`- error: ${problem}`);
  if (judgement)
    lines.push(`- ${judgement.standing}${judgement.reason ? `: ${judgement.reason}` : ""}`);
  for (const { name, passed, failed } of rungs)
    lines.push(`- rung ${name}: ${passed} of ${passed + failed}`);
  if (parsed) {
    lines.push("", `### Output (${parsed.text.length} characters)`, "");
    lines.push(...fenced([parsed.text]), "", "It is read as:", "", ...fenced(parsed.found));
  }
  return `${lines.join("\n")}\n`;
}

/** Return JSON between fences, which is on lines of its own and so can't end them. */
function fenced(value) {
  const text = JSON.stringify(value, null, 2);
  const fence = "`".repeat(Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length)) + 1);
  return [`${fence}json`, text, fence];
}

export function showIssue() {
  const text = issueText();
  showFile("issue", text);
  const { repository } = document.body.dataset;
  const link = $("#file-issue");
  link.hidden = !repository;
  const form = made.parsed?.found.problems.length ? "output.yml" : "template.yml";
  const query = new URLSearchParams({ template: form, report: text.slice(0, LONGEST_REPORT) });
  if (repository) link.href = `${repository}/issues/new?${query}`;
}
