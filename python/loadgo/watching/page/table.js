// A table of the run as it grows: its columns in typed arrays, its words in lists.
const KINDS = { u4: Uint32Array, f4: Float32Array, f8: Float64Array };

export const NONE = 0xFFFFFFFF;

export class Table {
  rows = 0;
  columns = {};
  words = {};

  /** Appends the rows of one message; `bytes` are its columns, each from a multiple of 8 bytes on. */
  append(head, bytes) {
    for (const [name, more] of columnsOf(head, bytes)) this.columns[name] = grown(this.columns[name], more, this.rows);
    for (const [name, words] of Object.entries(head.words)) (this.words[name] ||= []).push(...words);
    this.rows += head.rows;
  }

  /** The word in a row; an empty one where there is none. */
  word(column, row) {
    const code = this.columns[column][row];
    return code === NONE ? "" : this.words[column][code];
  }

  /** The rows [from, to) whose `at_ns` is in (start, end]; they are in the order of time. */
  between(start, end) {
    return this.rows ? [after(this.columns.at_ns, start, this.rows), after(this.columns.at_ns, end, this.rows)] : [0, 0];
  }
}

/** The columns of one message: names and arrays. */
export function columnsOf(head, bytes) {
  let place = 0;
  return head.columns.map(([name, kind]) => {
    const column = new KINDS[kind](bytes, place, head.rows);
    place += Math.ceil(column.byteLength / 8) * 8;
    return [name, column];
  });
}

/** The first place in the sorted `values` that is beyond `bound`. */
export function after(values, bound, count) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= bound) low = middle + 1; else high = middle;
  }
  return low;
}

/** `known` with `more` from `rows` on, in a longer array where there is no room. */
export function grown(known, more, rows) {
  let into = known;
  if (!into || into.length < rows + more.length) {
    into = new more.constructor(Math.max(256, rows + more.length, rows * 2));
    if (known) into.set(known.subarray(0, rows));
  }
  into.set(more, rows);
  return into;
}
