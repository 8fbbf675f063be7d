/** What a hub limits the rate of. */
export type Operation = 'connect' | 'd2c' | 'c2d' | 'method' | 'registry' | 'twinRead' | 'twinUpdate';

/** So many operations in so many milliseconds. */
export interface Limit {
  count: number;
  perMs: number;
}

/** The limits of a hub; what is absent is not limited. */
export type Limits = { [K in Operation]?: Limit };

/** Limits in operations a second. */
export type Rates = { [K in Operation]?: number };

export type Tier = 'S1' | 'S2' | 'S3';

const aSecond = (count: number): Limit => ({ count, perMs: 1000 });
const aMinute = (count: number): Limit => ({ count, perMs: 60_000 });

// Azure's page "IoT Hub quotas and throttling". `connect` is new device connections; a hub holds newly opened links to it
// as well. Methods are limited in bytes, metered by 4 KB.
const limitsOf: Record<Tier, (units: number) => Required<Limits>> = {
  S1: (units) => ({
    connect: aSecond(Math.max(100, 12 * units)),
    d2c: aSecond(Math.max(100, 12 * units)),
    c2d: aMinute(100 * units),
    method: aSecond(40 * units),
    registry: aMinute(100 * units),
    twinRead: aSecond(100),
    twinUpdate: aSecond(50),
  }),
  S2: (units) => ({
    connect: aSecond(120 * units),
    d2c: aSecond(120 * units),
    c2d: aMinute(100 * units),
    method: aSecond(120 * units),
    registry: aMinute(100 * units),
    twinRead: aSecond(Math.max(100, 10 * units)),
    twinUpdate: aSecond(Math.max(50, 5 * units)),
  }),
  S3: (units) => ({
    connect: aSecond(6000 * units),
    d2c: aSecond(6000 * units),
    c2d: aMinute(5000 * units),
    method: aSecond(6144 * units),
    registry: aMinute(5000 * units),
    twinRead: aSecond(500 * units),
    twinUpdate: aSecond(250 * units),
  }),
};

/** The limits of a hub of this size. */
export function tierLimits(tier: Tier, units = 1): Limits {
  return limitsOf[tier](units);
}

/** Rates as limits: what a second allows, and one operation at least in the time that it takes. */
export function limitsOfRates(rates: Rates): Limits {
  const limits = Object.entries(rates).map(([operation, rate]) => [
    operation,
    rate >= 1 ? aSecond(rate) : { count: 1, perMs: 1000 / rate },
  ]);
  return Object.fromEntries(limits);
}
