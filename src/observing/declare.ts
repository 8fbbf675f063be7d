import type { Attribute, Declaration } from 'telemetry/declaration.ts';

/** A metric by its kind and its unit, then by what it tells, what an operator makes of it, and its attributes. */
const declare =
  <const K extends Declaration['kind']>(kind: K) =>
  (unit: string, constants: Declaration['constants'] = {}, buckets: readonly number[] = []) =>
  <const A extends readonly Attribute[] = readonly []>(
    what: string,
    use: string,
    attributes: A = [] as readonly Attribute[] as A,
  ): Declaration<K, A> => ({ kind, unit, what, use, attributes, constants, buckets });

export const counter = declare('counter');
export const updowncounter = declare('updowncounter');
export const gauge = declare('gauge');

/** Of durations in seconds. */
export const histogram = (buckets: readonly number[], constants?: Declaration['constants']) =>
  declare('histogram')('s', constants, buckets);

/** Upper bounds in seconds for one request, as the HTTP conventions recommend; attempts have 30 s at most by default. */
export const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30];

/** Upper bounds in seconds for what may take minutes: outages, full queues of devices, deadlines (P2). */
export const longBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
