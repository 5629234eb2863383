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
  for await (const data of events(answer.body)) {
    if (data === "[DONE]") return;
    const { choices, error } = JSON.parse(data);
    if (error) throw new Error(error.message ?? String(error));
    yield choices?.[0]?.text ?? "";
  }
}

/** Yield the data of an event stream's events, of one line or several; an empty line ends one. */
async function* events(stream) {
  let data = [];
  for await (const line of lines(stream)) {
    const [, field, value] = /^([^:]*):? ?([\s\S]*)$/.exec(line);
    if (line && field === "data") data.push(value);
    if (line) continue;
    if (data.length > 0) yield data.join("\n");
    data = [];
  }
  if (data.length > 0) yield data.join("\n"); // servers leave out the last line's end
}

/** Yield the lines of a stream of bytes, which may be cut anywhere: CR, LF or both end one. */
async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let [rest, wasCut] = ["", false];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const more = wasCut ? value.replace(/^\n/, "") : value;
      const found = (rest + more).split(/\r\n|\n|\r/);
      rest = found.pop();
      wasCut = value ? value.endsWith("\r") : wasCut; // between CR and LF, maybe
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
