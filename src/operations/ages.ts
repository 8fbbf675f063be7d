/** Seconds as people read them. */
export const inTenths = (seconds: number): number => Math.round(10 * seconds) / 10;

/** @param ms since 1970; the clock may have been set back since */
export const secondsSince = (ms: number): number => inTenths(Math.max(0, Date.now() - ms) / 1000);

export const ageOf = (ms: number) => ({ since: new Date(ms).toISOString(), seconds: secondsSince(ms) });
