/** The text of a completion as it comes, and what a parser makes of it. Nothing here needs a page. */

/** Yield the pieces of a completion, from an endpoint like OpenAI's `/v1/completions`. */
export async function* completion(address, request, signal) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...request, stream: true }),
    signal,
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  for await (const line of lines(answer.body)) {
    const data = line.startsWith("data:") ? line.slice("data:".length).trim() : "";
    if (data === "[DONE]") return;
    if (!data) continue;
    const { choices, error } = JSON.parse(data);
    if (error) throw new Error(error.message ?? String(error));
    yield choices?.[0]?.text ?? "";
  }
}

/** Yield the lines of a stream of bytes, which may be cut anywhere. */
async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const found = (rest + value).split("\n");
      rest = found.pop();
      yield* found;
    }
    yield rest;
  } finally {
    await reader.cancel(); // who stops reading ends the request
  }
}

/** Feed pieces to a parser as they come; tell what each brings, and return the whole message. */
export async function read(pieces, parser, tell) {
  for await (const piece of pieces) parser.feed(piece).forEach(tell);
  parser.finish().forEach(tell);
  return parser.message;
}
