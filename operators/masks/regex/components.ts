import type { Positions } from './positions.ts';

/** Positions that lie on circles with each other: the bodies of repetitions. In the order in which they are reached. */
export interface Components {
  readonly loops: readonly (readonly number[])[];
  /** For each position the index of its loop, or −1. */
  readonly loopOf: Int32Array;
}

/** The strongly connected components that have a circle (Tarjan, with a stack of its own). */
export function componentsOf({ next }: Positions): Components {
  const index = new Int32Array(next.length).fill(-1);
  const low = new Int32Array(next.length);
  const onStack = new Uint8Array(next.length);
  const stack: number[] = [];
  const loops: number[][] = [];
  let counter = 0;

  const visit = (root: number) => {
    const path: { position: number; edge: number }[] = [{ position: root, edge: 0 }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { position } = top;
      if (top.edge === 0 && index[position] === -1) {
        index[position] = low[position] = counter++;
        stack.push(position);
        onStack[position] = 1;
      }
      const to = next[position]?.[top.edge++];
      if (to !== undefined) {
        if (index[to] === -1) path.push({ position: to, edge: 0 });
        else if (onStack[to] === 1) low[position] = Math.min(low[position] as number, index[to] as number);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) {
        low[parent.position] = Math.min(low[parent.position] as number, low[position] as number);
      }
      if (low[position] === index[position]) close(position);
    }
  };
  const close = (root: number) => {
    const members = stack.splice(stack.indexOf(root));
    for (const member of members) onStack[member] = 0;
    if (members.length > 1 || next[root]?.includes(root)) loops.push(members);
  };
  for (let position = 0; position < next.length; position++) if (index[position] === -1) visit(position);

  loops.reverse();
  const loopOf = new Int32Array(next.length).fill(-1);
  loops.forEach((members, loop) => {
    for (const member of members) loopOf[member] = loop;
  });
  return { loops, loopOf };
}
