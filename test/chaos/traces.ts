import { grouped } from '../support/observed.ts';
import type { Handled, History, Sent, Told } from './history.ts';

export interface Traces {
  readonly sent: Sent;
  readonly effects: number;
  readonly told: readonly Told[];
  readonly handled: readonly Handled[];
  readonly isStruck: boolean;
  readonly isRefused: boolean;
  readonly isParked: boolean;
  readonly isUnexecuted: boolean;
  /** Begun before a failover, and again behind others when the hub was back. */
  readonly isParted: boolean;
  /** It failed through our side, as a fault explains. */
  readonly hasFailed: boolean;
}

/** Codes that say nothing of the message: they are right when the faults explain them. */
export const ourFault: ReadonlySet<string | undefined> = new Set(['timeout_exceeded', 'internal_platform_error']);

export function tracesOf(history: History): Traces[] {
  const { sent, effects, told, handled, struck, refused, parked, unexecuted, parted } = history;
  const effectsOf = grouped(effects, ({ id }) => id);
  const toldOf = grouped(told, ({ id }) => id);
  const handledOf = grouped(handled, ({ id }) => id);
  return sent.map((one) => {
    const { id } = one;
    const [replies, lines] = [toldOf.get(id) ?? [], handledOf.get(id) ?? []];
    const isStruck = struck.has(id);
    return {
      sent: one,
      effects: new Set(effectsOf.get(id)?.map(({ key }) => key)).size,
      ...{ told: replies, handled: lines, isStruck, isRefused: refused.has(id), isParked: parked.has(id) },
      isUnexecuted: unexecuted.has(id),
      isParted: parted?.has(id) ?? false,
      hasFailed: isStruck && [...replies, ...lines].some(({ code }) => ourFault.has(code)),
    };
  });
}

/** A reply that the service says it has dropped. */
export const hasDropped = ({ handled }: Pick<Traces, 'handled'>): boolean => handled.some(({ dropped }) => dropped > 0);
