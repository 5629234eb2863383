/** The page: asks the endpoint, and shows reasoning, content and calls while they are written. */

import { FORMAT, Parser } from "./qwen-qwen3-0-6b.mjs";
import { completion, read } from "./stream.mjs";

const form = document.querySelector("form");
const { address, question, tools, go } = form.elements;
const [reasoning, content, calls, end] = ["reasoning", "content", "calls", "end"].map((id) =>
  document.getElementById(id),
);
let asked = null;

/** Return the prompt for a question, as the model's template renders it. */
function prompt() {
  const offered = JSON.parse(tools.value).map((tool) => JSON.stringify(tool));
  const system = `# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${offered.join("\n")}
</tools>

For each function call, return a json object with function name and arguments within \
<tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`;
  const said = `<|im_start|>user\n${question.value}<|im_end|>\n`;
  return `<|im_start|>system\n${system}<|im_end|>\n${said}${FORMAT.prompt}`;
}

/** Show what an event tells. All of it is text, so nothing that a model writes becomes markup. */
function show(event) {
  if (event.type === "reasoning") reasoning.append(event.text);
  else if (event.type === "content") content.append(event.text);
  else if (event.type === "tool_call_start") {
    const call = calls.appendChild(document.createElement("li"));
    call.appendChild(document.createElement("b")).append(event.name);
    call.appendChild(document.createElement("code"));
  } else if (event.type === "tool_call_delta") {
    calls.children[event.index].lastChild.append(event.arguments);
  }
}

async function ask() {
  for (const part of [reasoning, content, calls, end]) part.replaceChildren();
  const parser = new Parser({ tools: JSON.parse(tools.value) });
  // vLLM leaves markers out unless it is told; llama.cpp's server never does.
  const request = { prompt: prompt(), max_tokens: 2000, skip_special_tokens: false };
  const pieces = completion(address.value, request, asked.signal);
  const { finishReason, problems } = await read(pieces, parser, show);
  const told = problems.map(({ kind, message }) => `${kind}: ${message}`);
  end.append([`finish reason: ${finishReason}`, ...told].join("; "));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (asked) return asked.abort();
  asked = new AbortController();
  go.textContent = "Stop";
  try {
    await ask();
  } catch (error) {
    end.append(error.name === "AbortError" ? "stopped" : String(error));
  }
  asked = null;
  go.textContent = "Ask";
});
