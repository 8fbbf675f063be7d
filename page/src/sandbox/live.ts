import { useLayoutEffect, useState } from 'preact/hooks';
import type { Entry } from '../flow/entry.ts';
import { createFlows, type Flows } from '../flow/flows.ts';

/** The journal of the sandbox as it grows, sorted into flows. */
export interface Live {
  readonly flows: Flows;
  /** Changes whenever a flow has. */
  readonly version: number;
  readonly isConnected: boolean;
}

/** The page shows what is new this often at most. */
const showEveryMs = 100;

interface Follower {
  readonly live: () => Live;
  watch(listener: () => void): () => void;
}

/** Follows the journal from its oldest entry on; the browser connects again by itself, and misses nothing. */
function follow(url: string): Follower {
  const flows = createFlows();
  const listeners = new Set<() => void>();
  let version = 0;
  let isConnected = false;
  let last = 0;
  let isDue = false;

  const changed = () => {
    version += 1;
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      for (const listener of listeners) listener();
    }, showEveryMs);
  };
  const source = new EventSource(url);
  source.addEventListener('open', () => {
    isConnected = true;
    changed();
  });
  source.addEventListener('error', () => {
    isConnected = false;
    changed();
  });
  source.addEventListener('message', ({ data }) => {
    const entry = JSON.parse(data) as Entry;
    last = entry.position;
    flows.add(entry);
    changed();
  });
  source.addEventListener('gap', ({ data }) => {
    // The journal of another sandbox, which has the same address, begins anew.
    if (JSON.parse(data).next <= last) flows.clear();
    changed();
  });

  return {
    live: () => ({ flows, version, isConnected }),
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

let follower: Follower | undefined;

export function useLive(): Live {
  follower ??= follow('hub/journal/stream?since=0');
  const [live, setLive] = useState(follower.live);
  // At once: what changes before the first picture would be missed.
  useLayoutEffect(() => follower?.watch(() => follower && setLive(follower.live())), []);
  return live;
}
