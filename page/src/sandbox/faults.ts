import type { Schema } from '../form/fields.ts';
import { ask, usePolled } from '../kit/ask.ts';

/** Where a fault happens. */
export type Place = 'hub' | 'backends';

/** A fault that is on. */
export interface ActiveFault {
  readonly place: Place;
  readonly id: string;
  /** What was asked for. */
  readonly fault: Readonly<Record<string, unknown>>;
  /** How often it has struck. */
  readonly struck: number;
  /** ISO 8601; absent: until it is turned off, or used up. */
  readonly until?: string;
}

/** A kind of fault that can be had. */
export interface FaultKind {
  readonly kind: string;
  readonly happens: 'until cleared' | 'at once';
  readonly what: string;
  readonly schema: Schema;
}

export interface Faults {
  readonly active: readonly ActiveFault[];
  readonly error: string | undefined;
  add(place: Place, fault: object, seconds: string): Promise<string>;
  clear(fault: ActiveFault): Promise<void>;
  clearAll(): Promise<void>;
}

interface HubFault {
  readonly id: string;
  readonly fault: Readonly<Record<string, unknown>>;
  readonly struck: number;
  readonly until?: string;
}

type BackendFault = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly struck: number;
  readonly until?: string;
};

/** The faults that are on, in hub and backends, looked up every second. */
export function useFaults(): Faults {
  const hub = usePolled<{ faults: readonly HubFault[] }>('hub/faults', 1_000);
  const backends = usePolled<{ data: readonly BackendFault[] }>('backends/faults', 1_000);
  const again = () => {
    hub.again();
    backends.again();
  };
  const ofHub = (hub.value?.faults ?? []).map((one): ActiveFault => ({ place: 'hub', ...one }));
  const ofBackends = (backends.value?.data ?? []).map(({ id, struck, until, ...fault }): ActiveFault => {
    return { place: 'backends', id, struck, fault, ...(until === undefined ? {} : { until }) };
  });
  return {
    active: [...ofHub, ...ofBackends],
    error: (hub.error ?? backends.error)?.message,
    async add(place, fault, seconds) {
      const query = seconds === '' ? '' : `?seconds=${encodeURIComponent(seconds)}`;
      const answer = await ask<{ id?: string; struck?: number }>(`${place}/faults${query}`, 'POST', fault);
      again();
      return answer.id === undefined ? `it struck ${answer.struck ?? 0}` : `${answer.id} is on`;
    },
    async clear({ place, id }) {
      await ask(`${place}/faults/${encodeURIComponent(id)}`, 'DELETE');
      again();
    },
    async clearAll() {
      await Promise.all([ask('hub/faults', 'DELETE'), ask('backends/faults', 'DELETE')]);
      again();
    },
  };
}

/** A fault in a few words. */
export function inWords({ place, fault }: Pick<ActiveFault, 'place' | 'fault'>): string {
  const { kind, backend, ...rest } = fault;
  const more = Object.entries(rest).map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return [place === 'hub' ? `hub: ${kind}` : String(backend), ...more].join(', ');
}
