import type { Sent } from './history.ts';

/** A message whose trace comes after that of one which was sent later. */
export interface Inversion {
  readonly id: string;
  readonly after: string;
}

/** What comes first for a message must not come after what came first for a later one of the same device (G2). */
export function inversions(sent: readonly Sent[], events: readonly { readonly id: string }[]): Inversion[] {
  const places = new Map(sent.map((one, index) => [one.id, { deviceId: one.deviceId, index }]));
  const latest = new Map<string, { id: string; index: number }>();
  const seen = new Set<string>();
  const found: Inversion[] = [];
  for (const { id } of events) {
    const place = places.get(id);
    if (place === undefined || seen.has(id)) continue;
    seen.add(id);
    const before = latest.get(place.deviceId);
    if (before && before.index > place.index) found.push({ id, after: before.id });
    else latest.set(place.deviceId, { id, index: place.index });
  }
  return found;
}
