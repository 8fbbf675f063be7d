import type { Socket } from 'node:net';
import type { HubPorts } from '../network/hubPorts.ts';
import { type Listener, reset } from '../network/listener.ts';
import { type FaultTargets, strikeNow } from './immediate.ts';
import { type FaultRequest, type ImmediateFault, isImmediate, parseFault, type StandingFault } from './schema.ts';
import type { StandingFaults } from './standing.ts';

/** A fault that stands, as it is listed. */
export interface ListedFault {
  id: string;
  fault: StandingFault;
  /** How often it has struck. */
  struck: number;
  /** When it is cleared, in ISO 8601; absent: when it is used up, or somebody clears it. */
  until?: string;
}

/** Misbehaviour of the hub, on demand. */
export interface Faults {
  /** Let a fault stand until it is used up or cleared. The answer is its id. One that is none is refused with a sentence. */
  add(fault: StandingFault): string;
  /** A fault strikes at once. The answer counts the connections, links or events it struck. One that is none is refused with a sentence. */
  strike(fault: ImmediateFault): Promise<number>;
  /**
   * Either of the two, from outside: the answer has the id of a fault that stands, or how much was struck. One that stands is
   * cleared after so many seconds, if a number is given.
   */
  ask(fault: unknown, seconds?: number): Promise<{ id: string } | { struck: number }>;
  list(): ListedFault[];
  /** End one fault, or all that stand; what they held back goes on. The answer is how many ended. */
  clear(id?: string): number;
}

/** The faults of a hub that listens on `ports`. */
export function createFaults(
  targets: Omit<FaultTargets, 'restarting'> & { ports: Map<keyof HubPorts, Listener> },
): Faults {
  const { standing, ports } = targets;

  const isOpen = (port: keyof HubPorts): boolean =>
    !standing
      .list()
      .some(
        ({ fault }) =>
          fault.kind === 'refuse-connection' &&
          fault.answer === 'closed' &&
          fault.times === undefined &&
          !fault.skip &&
          (fault.port ?? port) === port,
      );
  let restarts = 0;
  const openAndClose = async (): Promise<void> => {
    const listeners = [...ports].filter(([port]) => port !== 'admin');
    await Promise.all(listeners.map(([port, it]) => (restarts === 0 && isOpen(port) ? it.resume() : it.pause())));
  };
  standing.watch('refuse-connection', () => void openAndClose());

  const parse = <F extends FaultRequest>(fault: F): F => parseFault(fault) as F;
  const add = (fault: StandingFault): string => standing.add(parse(fault)).id;
  const strike = (fault: ImmediateFault): Promise<number> =>
    strikeNow(parse(fault), {
      ...targets,
      restarting(isDown) {
        restarts += isDown ? 1 : -1;
        return openAndClose();
      },
    });

  /** When those are cleared that stand for a while. */
  const ends = new Map<string, string>();
  const clear = (id?: string): number => {
    if (id === undefined) ends.clear();
    else ends.delete(id);
    return standing.clear(id);
  };
  const endAfter = (id: string, seconds: number): void => {
    ends.set(id, new Date(Date.now() + seconds * 1000).toISOString());
    setTimeout(clear, seconds * 1000, id).unref();
  };

  return {
    add,
    strike,
    async ask(asked, seconds) {
      const fault = parseFault(asked);
      if (isImmediate(fault)) return { struck: await strike(fault) };
      const id = add(fault);
      if (seconds !== undefined) endAfter(id, seconds);
      return { id };
    },
    list: () =>
      standing.list().map(({ id, fault, struck }) => {
        const until = ends.get(id);
        return { id, fault, struck, ...(until !== undefined && { until }) };
      }),
    clear,
  };
}

/** Whether a fault takes a connection over before anything is read from it. */
export function interceptedByFault(standing: StandingFaults, port: keyof HubPorts, socket: Socket): boolean {
  const fault = standing.strike('refuse-connection', { port })?.fault;
  if (!fault) return false;
  socket.on('error', () => undefined);
  if (fault.answer === 'silent') socket.resume();
  else reset(socket);
  return true;
}
