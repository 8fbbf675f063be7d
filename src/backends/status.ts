/** What an HTTP status says about the backend, about a retry and about the effect of an attempt (B4, B5). */

const passing = new Set([401, 408, 425, 429, 500, 502, 503, 504]);
const outage = new Set([401, 502, 503, 504]);
const effectUnknown = new Set([500, 502, 504]);

/** A retry may succeed; after 500 only a few are made. */
export const isPassing = (status: number): boolean => passing.has(status);

/** The backend, its gateway or our access to it is down. */
export const isOutage = (status: number): boolean => outage.has(status);

export const isHealthy = (status: number): boolean => status < 500 && !passing.has(status);

/** The attempt may have taken effect despite the error. */
export const hidesEffect = (status: number): boolean => effectUnknown.has(status);
