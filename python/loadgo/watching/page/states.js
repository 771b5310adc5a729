// What a user can be doing, in the order in which a band is divided, and its colours: from documents/palette.py.
import { STATES } from "./terms.js";

export { COLOURS, STATES, WAITS } from "./terms.js";

/** The state's name: after the end of the run nothing becomes known any more. */
export function nameOf(state, ended) { return ended && state === STATES.at(-1) ? state.replace(" yet", "") : state; }
