import type { Sandbox } from '../../sandbox/sandbox.ts';
import { flood, sendWithoutFetching } from './devices.ts';

/** What goes wrong, and when, in seconds since the start of the run. */
export interface Trouble {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  /** Ends when it is over, or does not last. */
  make(sandbox: Sandbox, signal: AbortSignal): Promise<void>;
}

/** While it lasts, the backend has the fault. */
const fault =
  (request: Parameters<Sandbox['backends']['faults']['add']>[0]): Trouble['make'] =>
  async ({ backends }, signal) => {
    backends.faults.add(request);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    backends.faults.clear();
  };

const deaf = 5;

export const runSeconds = 120;

export const troubles: readonly Trouble[] = [
  {
    ...{ label: 'information model slow', from: 12, to: 27 },
    make: fault({ backend: 'informationModel', delayMs: 2_000 }),
  },
  {
    ...{ label: 'principal manager down', from: 42, to: 57 },
    make: fault({ backend: 'principalManager', reset: 'before' }),
  },
  {
    ...{ label: 'a device floods', from: 72, to: 82 },
    make: (sandbox, signal) => flood(sandbox, 'flooder', 1_500, signal),
  },
  {
    ...{ label: `${deaf} devices fetch no replies`, from: 94, to: 109 },
    async make(sandbox, signal) {
      const ids = Array.from({ length: deaf }, (_, index) => `deaf-${index + 1}`);
      await Promise.all(ids.map((id) => sendWithoutFetching(sandbox, id, 70, signal)));
    },
  },
];
