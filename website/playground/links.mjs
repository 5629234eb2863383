/** The link to what one sees, in the address of the page. */

import { $, fields, later, made, USUAL_NAME } from "./common.mjs";
import { openTab } from "./panels.mjs";
import { fragmentOf, stateOf } from "./state.mjs";

function state() {
  return {
    name: fields.name.value === USUAL_NAME ? "" : fields.name.value,
    text: fields.template.value,
    bos: fields.bos.value,
    eos: fields.eos.value,
    tokenizer: made.tokenizer ? JSON.stringify(made.tokenizer) : "",
    overlay: $("#overlay").value,
    output: $("#output").value,
    other: $("#other").value,
    tab: openTab(),
  };
}

export function tellLink() {
  later("link", async () => {
    const fragment = fields.template.value ? await fragmentOf(state()) : "#";
    $("#link").href = fragment ?? "#";
    $("#link-note").textContent = fragment ? "" : "What you see is too long for a link.";
    if (fragment) history.replaceState(null, "", fragment === "#" ? location.pathname : fragment);
  });
}

/** A link may say anything: only what is a tokenizer's lists is taken. */
function tokenizerIn(text) {
  try {
    const { origin, special_tokens, end_tokens } = JSON.parse(text);
    const isTexts = (list) => Array.isArray(list) && list.every((one) => typeof one === "string");
    const isSound = typeof origin === "string" && isTexts(special_tokens) && isTexts(end_tokens);
    return isSound ? { origin, special_tokens, end_tokens } : null;
  } catch {
    return null;
  }
}

/** Put what the address says into the page's fields; return which tab it names, null for none. */
export async function restored() {
  const found = await stateOf(location.hash);
  if (!found?.text) return null;
  fields.name.value = found.name || USUAL_NAME;
  fields.template.value = found.text;
  fields.bos.value = found.bos ?? "";
  fields.eos.value = found.eos ?? "";
  made.tokenizer = tokenizerIn(found.tokenizer);
  $("#overlay").value = found.overlay ?? "";
  $("#output").value = found.output ?? "";
  $("#other").value = found.other ?? "";
  return found.tab ?? "spec";
}
