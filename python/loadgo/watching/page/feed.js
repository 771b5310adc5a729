// The run's messages as they come: each is two lengths, a head in JSON, and columns.

const BREATH_MS = 40;

/** Tells `take(head, bytes)` of each message, and `told()` when some have been taken, until the run has ended. */
export async function follow(take, told, lost) {
  let known = 0, ended = false;
  const one = (head, bytes) => { known += 1; ended ||= head.over === true; take(head, bytes); };
  while (!ended) {
    try {
      const answer = await fetch(`feed?from=${known}`, { cache: "no-store" });
      if (answer.status === 503) throw new Error("there are too many viewers");
      if (!answer.ok) { lost("The watcher has ended"); return; }
      await read(answer.body.getReader(), one, told);
    } catch (error) {
      lost("The watcher does not answer");
    }
    if (!ended) await new Promise(then => setTimeout(then, 2000));
  }
}

async function read(reader, one, told) {
  let kept = new Uint8Array(1 << 16), from = 0, to = 0, breathed = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (to + value.length > kept.length) {
      const wider = to - from + value.length > kept.length ? new Uint8Array(2 * (to - from + value.length)) : kept;
      wider.set(kept.subarray(from, to));
      [kept, to, from] = [wider, to - from, 0];
    }
    kept.set(value, to);
    to += value.length;
    for (;;) {
      const length = whole(kept, from, to);
      if (!length) break;
      const lengths = new DataView(kept.buffer, from, 8), head = lengths.getUint32(0, true);
      one(JSON.parse(new TextDecoder().decode(kept.subarray(from + 8, from + 8 + head))), kept.slice(from + 8 + head, from + length).buffer);
      from += length;
      told();
    }
    if (performance.now() - breathed > BREATH_MS) {
      await new Promise(then => setTimeout(then));
      breathed = performance.now();
    }
  }
}

/** The length of the message that begins at `from`; 0 when it is not whole yet. */
function whole(kept, from, to) {
  if (to - from < 8) return 0;
  const lengths = new DataView(kept.buffer, from, 8), length = 8 + lengths.getUint32(0, true) + lengths.getUint32(4, true);
  return to - from >= length ? length : 0;
}
