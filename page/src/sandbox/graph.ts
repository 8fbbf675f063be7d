import { keyOf, type ObjectModel } from './world.ts';

export interface Placed {
  readonly key: string;
  readonly title: string;
  readonly type: string;
  readonly x: number;
  readonly y: number;
}

export interface Line {
  readonly name: string;
  readonly from: Placed;
  readonly to: Placed;
}

export interface Graph {
  readonly nodes: readonly Placed[];
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
}

export const nodeWidth = 150;
export const nodeHeight = 40;
const [gapX, gapY] = [90, 14];

/** Object models that refer to others, or are referred to: those at the left that nothing refers to, and to the right what they refer to. */
export function graphOf(objects: readonly ObjectModel[]): Graph {
  const byKey = new Map(objects.map((one) => [keyOf(one), one]));
  const edges = objects.flatMap((one) =>
    one.references
      .map(({ name, to }) => ({ name, from: keyOf(one), to: keyOf({ ...to, tenant: one.tenant }) }))
      .filter(({ to }) => byKey.has(to)),
  );
  const used = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const targets = new Set(edges.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const column = new Map<string, number>();
  let layer = [...used].filter((key) => !targets.has(key));
  // In a ring everything is referred to: it begins with any.
  if (layer.length === 0) layer = [...used].slice(0, 1);
  for (let depth = 0; layer.length > 0; depth += 1) {
    const isNew = (key: string) => !column.has(key);
    for (const key of layer) if (isNew(key)) column.set(key, depth);
    layer = edges.filter(({ from, to }) => layer.includes(from) && isNew(to)).map(({ to }) => to);
    if (layer.length === 0) layer = [...used].filter(isNew).slice(0, 1);
  }
  const rows = new Map<number, number>();
  const nodes = [...used].map((key): Placed => {
    const at = column.get(key) ?? 0;
    const row = rows.get(at) ?? 0;
    rows.set(at, row + 1);
    const { name, objectId = '', type = '' } = byKey.get(key) ?? {};
    return { key, title: name ?? objectId, type, x: at * (nodeWidth + gapX), y: row * (nodeHeight + gapY) };
  });
  const placed = new Map(nodes.map((node) => [node.key, node]));
  const lines = edges.flatMap(({ name, from, to }) => {
    const [one, other] = [placed.get(from), placed.get(to)];
    return one && other ? [{ name, from: one, to: other }] : [];
  });
  const width = Math.max(0, ...nodes.map(({ x }) => x + nodeWidth));
  const height = Math.max(0, ...nodes.map(({ y }) => y + nodeHeight));
  return { nodes, lines, width, height };
}
