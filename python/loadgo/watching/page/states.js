// What a user can be doing, in the order in which a band is divided, and its colours (Okabe and Ito's, told apart by all).
export const STATES = ["running", "ready", "page wait", "disk wait", "other wait", "typing", "thinking", "not known yet"];
export const WAITS = 5;
export const COLOURS = ["#0072b2", "#e69f00", "#d55e00", "#cc79a7", "#7a7a7a", "#009e73", "#56b4e940", "#99999960"];
