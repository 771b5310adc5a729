// What a user can be doing, in the order in which a band is divided, and its colours: from documents/palette.py.
export { COLOURS, STATES, WAITS } from "./terms.js";
