/** What a parser is told. */
/** The names of the options, which the compiler holds to be all. */
const OPTION_NAMES = Object.keys({
  tools: 0,
  enableThinking: 0,
  prefill: 0,
  reasoning: 0,
  echo: 0,
  stop: 0,
  idPrefix: 0,
  specialTokens: 0,
});
/** Throw a TypeError that names the right option where there is none of a name. */
export function checkNames(options) {
  const wrong = Object.keys(options).find((name) => !OPTION_NAMES.includes(name));
  if (wrong === undefined) return;
  const letters = wrong.replace(/_/g, "").toLowerCase();
  const meant = OPTION_NAMES.find((name) => name.toLowerCase() === letters);
  const right = meant ? `it is called ${meant}` : `there are ${OPTION_NAMES.join(", ")}`;
  throw new TypeError(`there is no option ${wrong}; ${right}`);
}
