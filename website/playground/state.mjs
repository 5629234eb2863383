/** What one sees, in the fragment of the address: JSON, compressed, in base64. */

/** Programs cut longer links. */
const LONGEST = 32_000;
/** A link may say anything: so much is taken of it at most, in characters. */
const LARGEST_STATE = 4_000_000;
/** The keys of a state, all of which are texts. */
const KEYS = ["name", "text", "bos", "eos", "tokenizer", "overlay", "output", "other", "tab"];

/** Return the fragment for a state, null where it would be too long. */
export async function fragmentOf(state) {
  const kept = Object.entries(state).filter(([key, value]) => KEYS.includes(key) && value);
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(kept)));
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  const fragment = `#s=${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  return fragment.length > LONGEST ? null : fragment;
}

/** Return the state that a fragment holds, null where it holds none. */
export async function stateOf(fragment) {
  if (!fragment.startsWith("#s=") || fragment.length > LONGEST) return null;
  try {
    const text = fragment.slice(3).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const unpacked = await through(bytes, new DecompressionStream("deflate-raw"), LARGEST_STATE);
    const found = Object(JSON.parse(new TextDecoder().decode(unpacked)));
    const sound = KEYS.filter((key) => typeof found[key] === "string");
    return Object.fromEntries(sound.map((key) => [key, found[key]]));
  } catch {
    return null;
  }
}

/** Return bytes as they come out of a stream, which may not be more than a limit. */
async function through(bytes, stream, most = Number.POSITIVE_INFINITY) {
  const pieces = [];
  let size = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) throw new RangeError("too much");
    pieces.push(value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
